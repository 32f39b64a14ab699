import { RawJson, withoutSpace } from '../../raw-json.ts';
import { Failure } from '../graphql/failure.ts';
import { hasSameOrder, isObject, patchOf } from './merge.ts';
import type { Change, Part } from './use-update.ts';

/** The most that a patch may have, in bytes; one that removes much and adds much may have more than the properties. */
const maxPatchBytes = 64 * 1024;

/** The properties. Only members that were changed are sent, if a patch can change them. */
export const propertiesPart: Part<unknown> = {
  valueIn: ({ properties }) => properties ?? null,
  changeTo(value, { properties }) {
    const patch = isObject(value) ? patchOf(isObject(properties) ? properties : {}, value) : undefined;
    const isSendable =
      patch !== undefined &&
      // A patch changes no order of members, and adds new ones behind the others, which is no loss.
      hasSameOrder(properties, value) &&
      new Blob([JSON.stringify(patch)]).size <= maxPatchBytes;
    return isSendable ? { mergeProperties: patch } : { properties: value };
  },
};

/** The properties as a text to edit; an empty one for none. */
export function printProperties(properties: unknown): string {
  return properties == null ? '' : JSON.stringify(properties, null, 2);
}

/** What a text of properties means. */
interface PropertiesText {
  readonly value: unknown;
  /** The text as it is, if it may have what the value has not: a number that changes when it is parsed, or a duplicate. */
  readonly first: Change | undefined;
}

/** Reads a text that a person wrote; a failure if it is not a JSON object. */
export function readProperties(text: string): PropertiesText | Failure {
  if (text.trim() === '') return { value: null, first: undefined };
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return new Failure('INVALID_INPUT', 'Expected a JSON object: { … }.');
    const isExact = withoutSpace(text) === JSON.stringify(value);
    return { value, first: isExact ? undefined : { properties: new RawJson(text) } };
  } catch (error) {
    return new Failure('MALFORMED_JSON', `The text is not JSON: ${(error as Error).message}.`);
  }
}
