import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { GraphQLContext } from './context.ts';

/** Root fields that anybody may ask, as `Type.field`. Every other one needs an API token; which scopes, the domain decides. */
const openFields: ReadonlySet<string> = new Set();

const pluginName = 'closedByDefault';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      [pluginName]: ClosedByDefault<Types>;
    }
  }
}

/** Refuses a root field to callers without an API token, unless the field is listed as open. */
class ClosedByDefault<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { parentType, name }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if ((parentType !== 'Query' && parentType !== 'Mutation') || openFields.has(`${parentType}.${name}`)) return resolve;
    return (source, args, context, info) => {
      (context as GraphQLContext).caller.requireCredential();
      return resolve(source, args, context, info);
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, ClosedByDefault);

export default pluginName;
