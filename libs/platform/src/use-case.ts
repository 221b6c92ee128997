import type { Abstract, Provider, Type } from '@nestjs/common';

type Tokens<A extends unknown[]> = { [K in keyof A]: Type<A[K]> | Abstract<A[K]> };

/**
 * Makes a Nest provider for a use case (a class without decorators). A missing dependency, or dependencies in the wrong order, do
 * not compile.
 */
export function useCase<A extends unknown[], T>(target: new (...dependencies: A) => T, ...inject: Tokens<A>): Provider {
  return {
    provide: target,
    inject: inject as never,
    useFactory: (...dependencies: unknown[]) => new target(...(dependencies as A)),
  };
}
