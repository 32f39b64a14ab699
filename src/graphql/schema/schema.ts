import { builder } from './builder.ts';
import './scalars.ts';
import './error.ts';
import './user-group.ts';
import './user-group-list.ts';
import './node.ts';
import './event.ts';
import './event-list.ts';
import './get-or-create-user-group.ts';
import './get-or-create-user-groups.ts';
import './update-user-group.ts';
import './set-user-group-environment.ts';
import './rotate-user-group-token.ts';
import './delete-user-group.ts';
import './embed-token.ts';
import './api-token.ts';
import './api-token-list.ts';
import './api-token-mutations.ts';
import './docs-config.ts';
import './metrics.ts';
import './instance.ts';

/** The whole schema. Its text is committed as `schema.graphql`. */
export const schema = builder.toSchema();
