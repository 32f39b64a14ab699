// Prints the GraphQL schema as its definition language, or writes it to the file that is given.
import { writeFileSync } from 'node:fs';
import { printSdl } from '../src/schema.ts';

const text = printSdl();
const [file] = process.argv.slice(2);
if (file) writeFileSync(file, text);
else process.stdout.write(text);
