import { isDeepStrictEqual } from 'node:util';

/** An environment as GraphQL names it; `null` means untagged. */
export type Tag = 'CUSTOMER' | 'TESTING' | null;

/** The caller: the environment of its API token, and whether it may see every group. */
export interface Requester {
  readonly tag: Tag;
  readonly admin: boolean;
}

/** The fields of a group that a caller can set. */
export interface Fields {
  readonly name?: string;
  readonly properties?: object | null;
  readonly mapping?: readonly { schemaId: string; dataSource: string }[];
}

/** A merge patch of one level: `null` removes a member. */
export type Patch = Readonly<Record<string, string | number | null>>;

/** A group in the model and in GraphQL responses. */
export interface Group {
  readonly teamId: number;
  readonly providedId: string;
  readonly environmentTag: Tag;
  readonly token: string;
  readonly name: string;
  readonly properties: object | null;
  readonly mapping: readonly { schemaId: string; dataSource: string }[];
}

/** The expected state of the gateway: the groups, the tokens in their grace period, and every token ever issued. */
export interface State {
  readonly groups: readonly Group[];
  readonly retired: ReadonlyMap<string, number>;
  readonly tokens: readonly string[];
}

/** One operation that is sent to the gateway. */
export type Operation =
  | {
      readonly kind: 'getOrCreate';
      readonly id: string;
      readonly fields: Fields;
      /** The environment that the call names, if it names one. */
      readonly environmentTag?: Tag;
    }
  | { readonly kind: 'update'; readonly id: string; readonly fields: Fields }
  | { readonly kind: 'patch'; readonly id: string; readonly patch: Patch }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'setEnvironment'; readonly teamId: number; readonly environmentTag: Tag }
  | { readonly kind: 'rotate'; readonly token: string; readonly graceSeconds: number; readonly endGracePeriods: boolean }
  | { readonly kind: 'find'; readonly by: { providedId: string } | { token: string } | { teamId: number } };

/** The result of an operation: a group (`null` if a look-up finds none), the id of a deleted group, or the code of an error. */
export interface Result {
  readonly deletedId?: string;
  readonly group?: Group | null;
  readonly created?: boolean;
  readonly code?: string;
}

export const initialState: State = { groups: [], retired: new Map(), tokens: [] };

/** The state after an operation, if the rules allow the result; otherwise `undefined`. */
export function next(state: State, requester: Requester, operation: Operation, result: Result): State | undefined {
  const allowed = (expected: Result, after: State = state) => (isDeepStrictEqual(result, expected) ? after : undefined);
  const sees = ({ environmentTag }: Group) => requester.admin || environmentTag === requester.tag;
  const replace = (group: Group) => state.groups.map((other) => (other.teamId === group.teamId ? group : other));

  /** The group that an id refers to for the caller, or the code of the error. */
  const named = (id: string): Group | string => {
    const visible = state.groups.filter((group) => group.providedId === id && sees(group));
    const own = visible.find(({ environmentTag }) => environmentTag === requester.tag);
    return own ?? (visible.length > 1 ? 'INVALID_INPUT' : (visible[0] ?? 'NOT_FOUND'));
  };

  switch (operation.kind) {
    case 'getOrCreate': {
      const { id, fields, environmentTag: tag = requester.tag } = operation;
      if (tag !== requester.tag && !requester.admin) return allowed({ code: 'FORBIDDEN' });
      const holders = state.groups.filter(({ providedId }) => providedId === id);
      const existing = holders.find(({ environmentTag }) => environmentTag === tag);
      if (existing) return allowed({ group: existing, created: false });
      const isHeld = holders.some(({ environmentTag }) => tag === null || environmentTag === null);
      if (isHeld) return allowed({ code: 'CONFLICT' });
      const { teamId, token } = result.group ?? { teamId: 0, token: '' };
      const isNew = !state.tokens.includes(token) && state.groups.every((group) => group.teamId !== teamId);
      if (!isNew) return undefined;
      const { name = id, properties = null, mapping = [] } = fields;
      const group = { teamId, providedId: id, environmentTag: tag, token, name, properties, mapping };
      const after = { ...state, groups: [...state.groups, group], tokens: [...state.tokens, token] };
      return allowed({ group, created: true }, after);
    }
    case 'update': {
      const group = named(operation.id);
      if (typeof group === 'string') return allowed({ code: group });
      const updated = { ...group, ...operation.fields };
      return allowed({ group: updated }, { ...state, groups: replace(updated) });
    }
    case 'patch': {
      const group = named(operation.id);
      if (typeof group === 'string') return allowed({ code: group });
      const merged = Object.entries({ ...group.properties, ...operation.patch }).filter(([, value]) => value !== null);
      const patched = { ...group, properties: Object.fromEntries(merged) };
      return allowed({ group: patched }, { ...state, groups: replace(patched) });
    }
    case 'delete': {
      const group = named(operation.id);
      if (typeof group === 'string') return allowed({ code: group });
      const groups = state.groups.filter((other) => other !== group);
      const retired = new Map([...state.retired].filter(([, teamId]) => teamId !== group.teamId));
      const deletedId = Buffer.from(`UserGroup:${group.teamId}`).toString('base64');
      return allowed({ deletedId }, { ...state, groups, retired });
    }
    case 'setEnvironment': {
      if (!requester.admin) return allowed({ code: 'FORBIDDEN' });
      const { environmentTag, teamId } = operation;
      const group = state.groups.find((other) => other.teamId === teamId);
      if (!group) return allowed({ code: 'NOT_FOUND' });
      const others = state.groups.filter((other) => other.providedId === group.providedId && other !== group);
      const isHeld = others.some((other) => environmentTag === null || [null, environmentTag].includes(other.environmentTag));
      if (isHeld) return allowed({ code: 'CONFLICT' });
      const moved = { ...group, environmentTag };
      return allowed({ group: moved }, { ...state, groups: replace(moved) });
    }
    case 'rotate': {
      const group = state.groups.find(({ token }) => token === operation.token);
      if (!group || !sees(group)) return allowed({ code: 'NOT_FOUND' });
      const token = result.group?.token ?? '';
      if (state.tokens.includes(token)) return undefined;
      const rotated = { ...group, token };
      const kept = [...state.retired].filter(([, teamId]) => !(operation.endGracePeriods && teamId === group.teamId));
      const retired = new Map(kept);
      if (operation.graceSeconds > 0) retired.set(operation.token, group.teamId);
      return allowed({ group: rotated }, { groups: replace(rotated), retired, tokens: [...state.tokens, token] });
    }
    case 'find': {
      const { by } = operation;
      if ('providedId' in by) {
        const group = named(by.providedId);
        if (group === 'INVALID_INPUT') return allowed({ code: group });
        return allowed({ group: typeof group === 'string' ? null : group });
      }
      const teamId = 'teamId' in by ? by.teamId : state.retired.get(by.token);
      const group = state.groups.find((each) => each.teamId === teamId || ('token' in by && each.token === by.token));
      return allowed({ group: group && sees(group) ? group : null });
    }
  }
}
