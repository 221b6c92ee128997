// rejected by eslint(no-restricted-imports): the domain folder of a context imports a type of a package
import type { ZodType } from 'zod';
export type Anything = ZodType;
