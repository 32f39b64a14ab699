import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { GatewayError } from '../errors.ts';
import type { GraphQLContext } from './context.ts';

const pluginName = 'countErrors';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      [pluginName]: CountErrors<Types>;
    }
  }
}

/** Counts the expected failures of mutations: what a client gets is data, in which their code need not be. */
class CountErrors<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { parentType }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (parentType !== 'Mutation') return resolve;
    return (source, args, context, info) => {
      const count = (error: unknown): void => {
        if (error instanceof GatewayError) (context as GraphQLContext).countError(error.code);
      };
      try {
        const result: unknown = resolve(source, args, context, info);
        // Concurrently with the result, which is not delayed.
        if (result instanceof Promise) result.catch(count);
        return result;
      } catch (error) {
        count(error);
        throw error;
      }
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, CountErrors);

export default pluginName;
