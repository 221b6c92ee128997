// rejected by eslint(no-restricted-imports): the domain folder of a context imports a package
import { z } from 'zod';
export const schema = z;
