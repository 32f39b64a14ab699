import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { GatewayError } from '../errors.ts';
import { tooMuchUnsent } from '../http/response.ts';
import { smallResponseBytes } from '../http-limits.ts';
import type { GraphQLContext } from './context.ts';
import { graphqlLimits } from './limits.ts';
import { type SelectionInfo, selectionSizeOf } from './selection.ts';

const { maxResolvedFields, maxResponseBytes } = graphqlLimits;

/** What a number, a boolean or a time adds to the size of a response, about. */
const scalarBytes = 8;

/** Measures the response of one execution, because its cost cannot predict the actual length of lists and texts. */
export class ResponseMeter {
  private readonly room: () => number;
  private fields = 0;
  private bytes = 0;
  private hasNoRoom = false;

  /** @param room how many bytes a large response may have now, because of others that wait to be read. */
  constructor(room: () => number) {
    this.room = room;
  }

  /** Whether the response exceeds a limit, or what there is room for. It is then incomplete and must not be sent. */
  get isExceeded(): boolean {
    if (this.fields > maxResolvedFields || this.bytes > maxResponseBytes) return true;
    // Once is enough, even if there is room later: what was left out is missing.
    this.hasNoRoom ||= this.bytes > smallResponseBytes && this.bytes > this.room();
    return this.hasNoRoom;
  }

  /** Why the response must not be sent, if it {@link isExceeded}. */
  get rejection(): GatewayError {
    return this.hasNoRoom ? tooMuchUnsent() : responseTooLarge();
  }

  /** Counts a scalar, a list of scalars, or a JSON value with all its parts. */
  addLeaf(value: unknown): void {
    if (typeof value === 'string') this.bytes += value.length;
    else if (typeof value !== 'object' || value === null) this.bytes += scalarBytes;
    else if (value instanceof Date) this.bytes += 3 * scalarBytes;
    else this.addJson(value);
  }

  private addJson(value: object): void {
    const parts = Array.isArray(value) ? value : Object.values(value);
    this.fields += parts.length;
    if (!Array.isArray(value)) for (const name in value) this.bytes += name.length + 4;
    for (const part of parts) {
      if (this.isExceeded) return;
      this.addLeaf(part);
    }
  }

  /** Counts the items of a list of objects, with all that is selected of them, before any of it is resolved. */
  addItems(count: number, info: SelectionInfo): void {
    const { fields, characters } = selectionSizeOf(info);
    this.fields += count * fields;
    this.bytes += count * characters;
  }

  /** Resets the counters for a second execution of the same request. */
  reset(): void {
    this.fields = 0;
    this.bytes = 0;
    this.hasNoRoom = false;
  }
}

/** Checks the size of a whole response. @throws GatewayError `QUERY_TOO_COSTLY` when it exceeds the limit. */
export function assertResponseSize(body: string): void {
  if (body.length > maxResponseBytes / 4 && Buffer.byteLength(body) > maxResponseBytes) throw responseTooLarge();
}

/** The error for a response that exceeds a limit. */
function responseTooLarge(): GatewayError {
  return new GatewayError(
    'QUERY_TOO_COSTLY',
    `The response exceeds the limit of ${maxResponseBytes / 2 ** 20} MiB or ${maxResolvedFields} fields. ` +
      'Request fewer fields or items. If this was a mutation without an Idempotency-Key, its changes were made.',
  );
}

const pluginName = 'gatewayFields';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      [pluginName]: FieldPlugin<Types>;
    }
  }
}

type Resolver = GraphQLFieldResolver<unknown, object, object>;

/**
 * What fields do besides resolving. A root field rejects callers without an API token; one of a mutation counts its expected
 * failures, which are data, in which their code need not be. Every field has the {@link ResponseMeter} count what it resolved to.
 */
class FieldPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolve: Resolver, { parentType, type }: PothosOutputFieldConfig<Types>): Resolver {
    const metered = meterField(resolve, type);
    const isMutation = parentType === 'Mutation';
    return isMutation || parentType === 'Query' ? guardRootField(metered, isMutation) : metered;
  }
}

function guardRootField(resolve: Resolver, isMutation: boolean): Resolver {
  return (source, args, context, info) => {
    const { caller, countError, operationInfo } = context as GraphQLContext;
    const count = (error: unknown): void => {
      if (!isMutation || !(error instanceof GatewayError)) return;
      operationInfo.isRefused = true;
      countError(error.code);
    };
    try {
      caller.requireCredential();
      const result: unknown = resolve(source, args, context, info);
      // Concurrently with the result, which is not delayed.
      if (isMutation && result instanceof Promise) result.catch(count);
      return result;
    } catch (error) {
      count(error);
      throw error;
    }
  };
}

/**
 * Once the limit is passed, lists are empty and nullable values are null. Values that may not be null are still resolved: an
 * error for one would end the completion of its list, and rejections of earlier items would then have no handler (graphql-js,
 * completeListValue).
 */
function meterField<Types extends SchemaTypes>(resolve: Resolver, type: PothosOutputFieldConfig<Types>['type']): Resolver {
  const { kind } = type.kind === 'List' ? type.type : type;
  if (kind === 'Scalar' || kind === 'Enum' || kind === 'List') {
    const { nullable } = type;
    return (source, args, context, info) =>
      nullable && meterOf(context).isExceeded ? null : meterLeaf(resolve(source, args, context, info), context);
  }
  if (type.kind !== 'List') return resolve;
  return (source, args, context, info) =>
    meterOf(context).isExceeded ? [] : meterList(resolve(source, args, context, info), context, info);
}

const meterOf = (context: object): ResponseMeter => (context as GraphQLContext).meter;

function meterLeaf(value: unknown, context: object): unknown {
  if (value instanceof Promise) return value.then((resolved) => meterLeaf(resolved, context));
  meterOf(context).addLeaf(value);
  return value;
}

function meterList(value: unknown, context: object, info: SelectionInfo): unknown {
  if (value instanceof Promise) return value.then((resolved) => meterList(resolved, context, info));
  const meter = meterOf(context);
  if (Array.isArray(value)) meter.addItems(value.length, info);
  return meter.isExceeded ? [] : value;
}

SchemaBuilder.registerPlugin(pluginName, FieldPlugin);

export default pluginName;
