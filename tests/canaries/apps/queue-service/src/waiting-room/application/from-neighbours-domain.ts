// rejected by eslint(no-restricted-imports): a use case imports the rules of another context
import { rule } from '../../reports/domain/rule.ts';
export const ours = rule;
