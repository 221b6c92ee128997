// rejected by eslint(no-restricted-imports): the rules of a context import a package, if only for a type
import type { ZodType } from 'zod';
export type Anything = ZodType;
