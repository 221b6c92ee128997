// rejected by eslint(no-restricted-imports): production code imports test code
import { createTestDatabase } from '#testing/test-database';
export const make = createTestDatabase;
