import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { GraphQLContext } from './context.ts';

/**
 * Whether a root field may be read without an API token: those of introspection. The domain decides which scopes the others
 * require.
 */
export const isOpenRootField = (name: string): boolean => name.startsWith('__');

const pluginName = 'requireCredential';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      [pluginName]: RequireCredential<Types>;
    }
  }
}

/** Rejects callers without an API token on every root field. */
class RequireCredential<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { parentType }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (parentType !== 'Query' && parentType !== 'Mutation') return resolve;
    return (source, args, context, info) => {
      (context as GraphQLContext).caller.requireCredential();
      return resolve(source, args, context, info);
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, RequireCredential);

export default pluginName;
