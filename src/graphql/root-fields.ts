import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { GatewayError } from '../errors.ts';
import type { GraphQLContext } from './context.ts';

const pluginName = 'rootFields';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      [pluginName]: RootFields<Types>;
    }
  }
}

/**
 * Rejects callers without an API token on every root field, and counts the expected failures of mutations: what a client gets is
 * data, in which their code need not be.
 */
class RootFields<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { parentType }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (parentType !== 'Query' && parentType !== 'Mutation') return resolve;
    const isCounted = parentType === 'Mutation';
    return (source, args, context, info) => {
      const { caller, countError } = context as GraphQLContext;
      const count = (error: unknown): void => {
        if (isCounted && error instanceof GatewayError) countError(error.code);
      };
      try {
        caller.requireCredential();
        const result: unknown = resolve(source, args, context, info);
        // Concurrently with the result, which is not delayed.
        if (isCounted && result instanceof Promise) result.catch(count);
        return result;
      } catch (error) {
        count(error);
        throw error;
      }
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, RootFields);

export default pluginName;
