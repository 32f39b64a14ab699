import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from './schema.ts';

/** The schema as its definition language, sorted by name, as `schema.graphql` has it. */
export const printSdl = (): string => `${printSchema(lexicographicSortSchema(schema))}\n`;
