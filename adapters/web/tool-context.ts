import type { CallContext, Surface } from '../../src/calls/call-record.ts'
import type { Identity } from '../../src/identity/keys.ts'
import { memoryOwner } from '../../src/memory/memory.ts'
import type { ToolContext } from '../../tools/tool.ts'
import { addressOf } from './client-address.ts'
import { callerOf, type FrameContext } from './frame-context.ts'

/** Builds the context of a tool for a request that ends before any model is asked. */
export const requestToolContext = (c: FrameContext, surface: Surface): ToolContext =>
  toolContext(callerOf(c), { surface, address: addressOf(c.env.incoming) })

/** Builds a tool's context for an HTTP request. Its caller has no folders on this machine. */
export const toolContext = (identity: Identity, call: Omit<CallContext, 'callerId'>): ToolContext => ({
  ...call,
  callerId: identity.id,
  roots: async () => [],
  projectRoot: async () => null,
  memoryOwner: memoryOwner(identity),
  gazeOf: identity.scopes.has('admin') ? undefined : identity.id,
})
