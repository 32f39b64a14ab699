import { lexicographicSortSchema, printSchema } from 'graphql';
import './api-tokens/graphql.ts';
import './audit-log/graphql.ts';
import './docs-config/graphql.ts';
import './embed-tokens/graphql.ts';
import { builder } from './graphql/builder.ts';
import { noteRefusals } from './graphql/errors.ts';
import './graphql/nodes.ts';
import './graphql/scalars.ts';
import './instance/graphql.ts';
import './user-groups/graphql/change.ts';
import './user-groups/graphql/get-or-create.ts';
import './user-groups/graphql/list.ts';
import './webhooks/graphql/mutations.ts';
import './webhooks/graphql/type.ts';

/** The whole schema: what the imported files define. Its text is committed as `schema.graphql`. */
export const schema = noteRefusals(builder.toSchema());

/** The schema as its definition language, sorted by name, as `schema.graphql` has it. */
export const printSdl = (): string => `${printSchema(lexicographicSortSchema(schema))}\n`;
