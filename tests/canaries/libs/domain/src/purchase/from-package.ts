// rejected by eslint(no-restricted-imports): the domain imports a package, if only for a type
import type { ZodType } from 'zod';
export type Anything = ZodType;
