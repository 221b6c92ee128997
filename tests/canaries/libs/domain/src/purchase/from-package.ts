// rejected by eslint(no-restricted-imports): libs/domain imports a type of a package
import type { ZodType } from 'zod';
export type Anything = ZodType;
