import { type EventType, eventTypes, type Scope, scopes } from './generated.ts';

/** A value of an enum, as people see it. */
interface Named {
  readonly name: string;
  readonly meaning?: string;
}

// The gateway may have been updated since this page was loaded, and know more values than the page.
type Known = Readonly<Record<string, Named | undefined>>;

/** The name of a scope, as in commands, such as `groups:read`; that of GraphQL for one that this page does not know. */
export function scopeName(scope: Scope): string {
  return (scopes as Known)[scope]?.name ?? scope;
}

/** The name of a type of event, such as `user_group.created`, and what it means; that of GraphQL alone for an unknown one. */
export function describeEventType(type: EventType): Named {
  return (eventTypes as Known)[type] ?? { name: type };
}

/** What a value means, as a sentence of its own. */
export function sentenceOf(meaning: string): string {
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1).replaceAll('`', '')}.`;
}
