import { z } from 'zod';

/** The id of a thing in an answer. */
export const idOf = (thing: string) => z.guid().meta({ description: `Id of the ${thing}` });

/** The currency of the amounts of an answer. */
export const currency = z.string().meta({ description: 'ISO 4217 code of the currency of the amounts, such as EUR' });
