// Prints the GraphQL schema as its definition language, or writes it to the file that is given.
import { writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../src/graphql/schema/schema.ts';

const text = `${printSchema(lexicographicSortSchema(schema))}\n`;
const [file] = process.argv.slice(2);
if (file) writeFileSync(file, text);
else process.stdout.write(text);
