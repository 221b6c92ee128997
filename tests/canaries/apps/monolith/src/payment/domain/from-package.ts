// rejected by eslint(no-restricted-imports): the domain of one context imports a package
import { z } from 'zod';
export const schema = z;
