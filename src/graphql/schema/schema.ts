import { builder } from './builder.ts';
import './scalars.ts';
import './error.ts';
import './user-group.ts';
import './user-group-list.ts';
import './user-group-mutations.ts';
import './embed-token.ts';
import './api-token.ts';
import './docs-config.ts';

/** The whole schema. Its text is committed as `schema.graphql`. */
export const schema = builder.toSchema();
