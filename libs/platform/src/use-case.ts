import type { Abstract, Provider, Type } from '@nestjs/common';

/** For each constructor parameter: the class of the dependency, or the symbol under which a value is injected. */
type Tokens<A extends unknown[]> = { [K in keyof A]: Type<A[K]> | Abstract<A[K]> | symbol };

/**
 * Makes a Nest provider for a use case (a class without decorators). A missing dependency, or classes in the wrong order, do not
 * compile.
 */
export function useCase<A extends unknown[], T>(target: new (...dependencies: A) => T, ...inject: Tokens<A>): Provider {
  return adapter(target, target, ...inject);
}

/** Makes a Nest provider for an adapter without decorators, under the name of its port. It is checked like a use case. */
export function adapter<A extends unknown[], P>(
  port: Type<P> | Abstract<P>,
  target: new (...dependencies: A) => P,
  ...inject: Tokens<A>
): Provider {
  return {
    provide: port,
    inject: inject as never,
    useFactory: (...dependencies: unknown[]) => new target(...(dependencies as A)),
  };
}
