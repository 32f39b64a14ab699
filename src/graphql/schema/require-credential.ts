import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver, OperationTypeNode } from 'graphql';
import type { GraphQLContext } from './context.ts';

/** Root fields that need no API token, as `Type.field`. Every other one does; the domain decides which scopes it requires. */
const openFields: ReadonlySet<string> = new Set();

/** Whether a root field may be read without an API token: those of introspection, and those that are listed. */
export function isOpenRootField(operation: OperationTypeNode, name: string): boolean {
  const rootType = operation === 'mutation' ? 'Mutation' : 'Query';
  return name.startsWith('__') || openFields.has(`${rootType}.${name}`);
}

const pluginName = 'requireCredential';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      [pluginName]: RequireCredential<Types>;
    }
  }
}

/** Rejects callers without an API token on every root field that is not listed as open. */
class RequireCredential<Types extends SchemaTypes> extends BasePlugin<Types> {
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

SchemaBuilder.registerPlugin(pluginName, RequireCredential);

export default pluginName;
