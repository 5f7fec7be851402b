import type { CallContext } from '../../src/calls/call-record.ts'
import type { Identity } from '../../src/identity/keys.ts'
import { memoryOwner } from '../../src/memory/memory.ts'
import type { ToolContext } from '../../tools/tool.ts'

/** Builds a tool's context for an HTTP request. Its caller has no folders on this machine. */
export const toolContext = (identity: Identity, call: Omit<CallContext, 'callerId'>): ToolContext => ({
  ...call,
  callerId: identity.id,
  roots: async () => [],
  projectRoot: async () => null,
  memoryOwner: memoryOwner(identity),
  gazeOf: identity.scopes.has('admin') ? undefined : identity.id,
})
