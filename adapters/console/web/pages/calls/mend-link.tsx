import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'

/** Link to what mends the cause of a failed or refused call, for an admin. */
export function MendLink({ call }: { call: CallRecord }) {
  if (!session.value?.isAdmin) return null
  const [words, address] = call.status === 'refused' ? ofRefusal(call) : ofFailure(call)
  return <a href={address}>{words}</a>
}

function ofRefusal({ http_status, caller_id, session_id, error }: CallRecord): [words: string, address: string] {
  if (error?.startsWith('session_') && session_id !== null)
    return ['Raise the session', href('sessions', { id: session_id, query: { key: caller_id } })]
  if (error?.startsWith('model_not_priced')) return ['Set its price', href('settings', { id: 'prices' })]
  if (caller_id === null) return ['Make a key', href('keys')]
  const address = href('keys', { id: caller_id, query: { do: 'edit' } })
  if (http_status === 402) return ['Raise the budget', address]
  if (http_status === 403) return ['Change what it may use', address]
  if (http_status === 429) return ['Raise the limit', address]
  return ['Look at the key', href('keys', { id: caller_id })]
}

function ofFailure({ http_status, requested_model, model, upstream }: CallRecord): [words: string, address: string] {
  const route = href('upstreams', { query: { model: requested_model ?? model } })
  const settings = href('upstreams', { id: upstream })
  if (http_status === 401 || http_status === 403) return ['Replace the key', settings]
  if (http_status === null) return ['Check its address', settings]
  if (http_status === 404) return ['Choose another model', route]
  if (http_status === 400 || http_status === 413) return ['See the route', route]
  return ['Move the route', route]
}
