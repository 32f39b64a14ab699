// Prints the GraphQL schema as its definition language: npx tsx scripts/print-schema.ts > schema.graphql
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../src/graphql/schema/schema.ts';

process.stdout.write(`${printSchema(lexicographicSortSchema(schema))}\n`);
