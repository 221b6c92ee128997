// rejected by eslint(no-restricted-imports): a use case imports the domain folder of another context
import { rule } from '../../reports/domain/rule.ts';
export const copy = rule;
