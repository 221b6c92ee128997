// rejected by eslint(no-restricted-imports): the rules of a context import those of another context of the app
import { rule } from '../../reports/domain/rule.ts';
export const ours = rule;
