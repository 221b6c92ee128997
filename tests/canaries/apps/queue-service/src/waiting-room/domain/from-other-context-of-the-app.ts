// rejected by eslint(no-restricted-imports): the domain folder of a context imports the domain folder of another context of the app
import { rule } from '../../reports/domain/rule.ts';
export const copy = rule;
