import { decodeGlobalID } from '@pothos/plugin-relay';

/** Longer than any id of a node, so that a text of a megabyte is not decoded. */
const maxNodeIdLength = 64;

/** The type and the id that a globally unique ID holds; undefined for a text that is none. */
export function decodeNodeId(nodeId: string): { readonly typename: string; readonly id: string } | undefined {
  if (nodeId.length > maxNodeIdLength) return undefined;
  try {
    return decodeGlobalID(nodeId);
  } catch {
    return undefined;
  }
}
