import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  NoFragmentCyclesRule,
  type OperationDefinitionNode,
  OperationTypeNode,
  validate,
} from 'graphql';
import { type Caller, credentialRequired } from '../../caller.ts';
import { heavyWork, type Pause } from '../../concurrency/heavy-work.ts';
import { isMissingKey } from '../../encryption/keys.ts';
import { errorCatalog } from '../../error-catalog.ts';
import { abandoned, GatewayError, Unauthenticated } from '../../errors.ts';
import { asGatewayError } from '../../failures.ts';
import { headersOf } from '../../http/problem.ts';
import { containsToken } from '../../tokens.ts';
import { tracing } from '../../tracing/tracing.ts';
import type { GraphQLContext } from '../context.ts';
import { graphqlLimits, heavyCost } from '../limits.ts';
import type { RawVariables } from '../selection.ts';
import { type CompiledOperation, compileOperation } from './compile.ts';
import { charactersPerUnit, costOf, type DocumentCost, documentCostOf } from './cost.ts';
import { causeOf } from './response.ts';
import { executedFieldsOf, rootFieldsOf } from './root-fields.ts';
import { createVariableCheck, type VariableCheck } from './variables.ts';

/** How often a kept operation is executed before it is compiled, which costs as much as ten to a hundred executions. */
export const usesBeforeCompiling = 3;

/** How long graphql-js executes an operation after the database did not respond to it. */
const outagePauseMs = 5_000;

/** An operation of a valid document, and what is known about it regardless of its variables. */
export interface KnownOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly cost: DocumentCost;
  readonly checkVariables: VariableCheck;
  /** Whether each of its root fields needs an API token. */
  readonly needsCredential: boolean;
  /** How often it was executed, and what it was compiled to once it was executed often; for {@link OperationExecutor.run}. */
  uses: number;
  compiled: CompiledOperation | undefined;
  /** Until when graphql-js executes it, because the database does not respond. */
  pausedUntilMs: number;
}

/** What varies between the executions of an operation. */
export interface ExecutionRequest {
  readonly variables: RawVariables | null | undefined;
  /** At least as many characters as the variables have as JSON. */
  readonly characters: number;
  readonly context: GraphQLContext;
}

/** Executes operations within the limits. */
export interface OperationExecutor {
  /** Examines an operation of a valid document. */
  examine(document: DocumentNode, operation: OperationDefinitionNode): KnownOperation;
  /**
   * Executes an operation; a costly one through the queue of heavy work, unless the request holds a transaction. If the request
   * is rejected as a whole (too costly, response too large, no credential, too many such requests), the result is one error
   * without data.
   */
  run(known: KnownOperation, request: ExecutionRequest): Promise<ExecutionResult>;
  /**
   * Runs work that executes a costly operation through the queue of heavy work.
   *
   * @throws GatewayError `UNAVAILABLE` when too many wait, or the response is no longer needed; what `work` throws.
   */
  runQueued<Result>(
    context: Pick<GraphQLContext, 'caller' | 'isAbandoned'>,
    work: (pause: Pause) => Promise<Result>,
  ): Promise<Result>;
  /** Whether an operation is queued as heavy work. Its document need not be valid. */
  isHeavy(document: DocumentNode, operation: OperationDefinitionNode, variables: unknown): boolean;
  /** The cost of an execution, and the limit. */
  costOf(known: KnownOperation, variables: ExecutionRequest['variables']): { cost: number; limit: number };
}

/** Creates the executor of a schema. */
export function createOperationExecutor(schema: GraphQLSchema): OperationExecutor {
  const { maxCost } = graphqlLimits;
  const shownName = createOperationNames();

  const exactCost = ({ document, operation, cost }: KnownOperation, variables: ExecutionRequest['variables']): number =>
    cost.dependsOnVariables || cost.variableUses > 0 ? costOf(schema, document, operation, variables ?? {}) : cost.base;

  async function runByReference(known: KnownOperation, request: ExecutionRequest): Promise<ExecutionResult> {
    const { document, operation, checkVariables } = known;
    const { variables: variableValues, context: contextValue } = request;
    const oversized = variableValues && checkVariables(variableValues);
    if (oversized) return { errors: [oversized] };
    const operationName = operation.name?.value;
    const options = { maxCoercionErrors: graphqlLimits.maxErrors };
    const result = await execute({ schema, document, contextValue, variableValues, operationName, options });
    return admit(result, contextValue);
  }

  /** The result; or, if the response is too large or has no room, a rejection, before any of it is serialized. */
  const admit = (result: ExecutionResult, { meter }: GraphQLContext): ExecutionResult =>
    meter.isExceeded ? rejection(meter.rejection) : result;

  const runQueued: OperationExecutor['runQueued'] = ({ caller, isAbandoned }, work) =>
    heavyWork.run(caller, async (pause) => {
      if (isAbandoned()) throw abandoned();
      return work(pause);
    });

  async function runHeavy(known: KnownOperation, request: ExecutionRequest): Promise<ExecutionResult> {
    try {
      const { context } = request;
      const isOnlyField = executedFieldsOf(known.document, known.operation).length === 1;
      return await runQueued(context, (turn) => {
        const pause = isOnlyField ? turn : undefined;
        return runByReference(known, { ...request, context: { ...context, pause } });
      });
    } catch (error) {
      if (error instanceof GatewayError) return rejection(error);
      throw error;
    }
  }

  /** Errors of compiled code are discarded: everything that is not a plain success is executed again by graphql-js. */
  async function runCompiled(compiled: CompiledOperation, known: KnownOperation, request: ExecutionRequest) {
    const { variables, context } = request;
    try {
      const result = await compiled(undefined, context, variables ?? {});
      if (!result.errors && result.data) return admit(result, context);
      if (result.errors?.some(isOutage) && !context.isAbandoned()) pauseCompiled(known);
    } catch {
      // graphql-js reports the error, if there is one.
    }
    context.meter.reset();
    return runByReference(known, request);
  }

  /** Has graphql-js execute an operation for a while, so that no request queries an unresponsive database twice. */
  function pauseCompiled(known: KnownOperation): void {
    known.pausedUntilMs = Date.now() + outagePauseMs;
  }

  function rejection(error: GatewayError, extensions: object = {}): ExecutionResult {
    const { code, message } = error;
    const http = { status: errorCatalog[code].status, headers: headersOf(error) };
    return { errors: [new GraphQLError(message, { extensions: { code, ...extensions, http } })] };
  }

  const executor: OperationExecutor = {
    examine: (document, operation) => ({
      document,
      operation,
      cost: documentCostOf(schema, document, operation),
      checkVariables: createVariableCheck(schema, operation),
      needsCredential: needsCredential(document, operation),
      uses: 0,
      compiled: undefined,
      pausedUntilMs: 0,
    }),
    run(known, request) {
      const { variables, characters, context } = request;
      const { operationInfo, caller } = context;
      operationInfo.isMutation = known.operation.operation === OperationTypeNode.MUTATION;
      operationInfo.operation = shownName(known.operation, caller);
      if (known.needsCredential && !caller.apiToken) {
        return Promise.resolve(rejection(new Unauthenticated(credentialRequired)));
      }
      const { base, variableUses, dependsOnVariables } = known.cost;
      // What it costs at most, without looking at the variables.
      let cost = base + variableUses * Math.ceil(characters / charactersPerUnit);
      if (dependsOnVariables || cost > heavyCost) cost = exactCost(known, variables);
      operationInfo.cost = cost;
      if (cost > maxCost) {
        const message = `The operation costs ${shown(cost)}; the limit is ${maxCost}. Request fewer fields or items, or send smaller inputs.`;
        return Promise.resolve(rejection(new GatewayError('QUERY_TOO_COSTLY', message), { cost, limit: maxCost }));
      }
      if (cost > heavyCost) return context.isInTransaction ? runByReference(known, request) : runHeavy(known, request);
      known.uses += 1;
      if (known.uses === usesBeforeCompiling) known.compiled = compileOperation(schema, known.document);
      const isPaused = known.pausedUntilMs > 0 && known.pausedUntilMs > Date.now();
      return known.compiled && !isPaused ? runCompiled(known.compiled, known, request) : runByReference(known, request);
    },
    runQueued,
    isHeavy(document, operation, variables) {
      // The cost of a fragment that contains itself has no end.
      if (validate(schema, document, [NoFragmentCyclesRule], { maxErrors: 1 }).length > 0) return false;
      const cost = costOf(schema, document, operation, isObject(variables) ? variables : {});
      return cost > heavyCost && cost <= maxCost;
    },
    costOf: (known, variables) => ({ cost: exactCost(known, variables), limit: maxCost }),
  };
  const { active } = tracing;
  if (!active) return executor;
  const run: OperationExecutor['run'] = (known, request) => {
    const name = shownName(known.operation, request.context.caller);
    return active.operation(known.operation.operation, name, () => executor.run(known, request));
  };
  return { ...executor, run };
}

/** How many names are kept, and how long each may be: every name is a series in the metrics. */
export const maxOperationNames = 100;
const maxNameLength = 64;

/**
 * Creates a function that returns the name of an operation that metrics, logs and traces show: clients choose names, so they are
 * bounded here. Callers without an API token add none.
 */
export function createOperationNames(): (
  operation: Pick<OperationDefinitionNode, 'name'>,
  caller: Pick<Caller, 'apiToken'>,
) => string {
  const names = new Set<string>();
  return ({ name }, { apiToken }) => {
    if (!name) return 'anonymous';
    const text = name.value;
    if (names.has(text)) return text;
    if (!apiToken || names.size >= maxOperationNames || text.length > maxNameLength || containsToken(text)) return 'other';
    names.add(text);
    return text;
  };
}

/** Whether the database did not respond. A missing encryption key concerns some values only. */
function isOutage(error: GraphQLError): boolean {
  const failure = asGatewayError(causeOf(error));
  return failure.code === 'UNAVAILABLE' && !isMissingKey(failure);
}

/** The cost as text; far above the limit it is not counted exactly. */
const shown = (cost: number): string => (cost > graphqlLimits.maxCost * 1_000 ? 'far more than allowed' : String(cost));

/** Whether every root field but those of introspection needs an API token, so that without one there is nothing to execute. */
function needsCredential(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  return !rootFieldsOf(document, operation).some(({ name }) => name.value.startsWith('__'));
}

const isObject = (value: unknown): value is RawVariables => typeof value === 'object' && value !== null;
