import type { ComponentChildren } from 'preact'
import type { CallRecord } from '../../../../src/calls/call-record.ts'
import { CALL_STATUSES } from '../../../../src/calls/call-status.ts'
import { href } from '../router.ts'

/** Advice about a call that failed or was refused. Names the upstream, and links to where it is set up. */
export function Advice({ call }: { call: CallRecord }) {
  return <>{CALL_STATUSES[call.status].counts === 'refusal' ? refusalAdvice(call) : failureAdvice(call)}</>
}

/** Describes why Gazeway did not make a call. */
function refusalAdvice(call: CallRecord): ComponentChildren {
  const { http_status: status, caller_id: id } = call
  const keys = id === null ? <a href={href('keys')}>Keys</a> : <a href={href('keys', { id })}>its page</a>
  if (call.error?.startsWith('session_') && call.session_id !== null)
    return (
      <>
        Let it go on, or raise it, on the page of{' '}
        <a href={href('sessions', { id: call.session_id, query: { key: id } })}>its session</a>.
      </>
    )
  if (status === 401) return <>The caller sent no valid key: give it one of {keys}.</>
  if (status === 402) return <>The caller’s credit or budget is used up: raise it on {keys}, or deposit.</>
  if (status === 403) return <>The caller’s key does not permit this: see its scopes and models on {keys}.</>
  return <>The caller makes too many requests: see its limits on {keys}.</>
}

function failureAdvice({ http_status: status, model, upstream }: CallRecord): ComponentChildren {
  const at = <a href={href('upstreams')}>{upstream}</a>
  if (status === 401 || status === 403) return <>{at} rejects the key: enter a valid one for it.</>
  if (status === 402) return <>The account at {at} is out of credit: add credit there.</>
  if (status === 404)
    return (
      <>
        {at} does not know {model ?? 'the model'}: request another, or route it to another upstream.
      </>
    )
  if (status === 413) return 'The request is too long for the model: send less context.'
  if (status === 429) return <>{at} limits the rate: slow down, or raise your limit there.</>
  if (status !== null && status >= 500) return <>Transient error at {at}. Retry later, or add a second candidate.</>
  if (status !== null && status >= 400) return <>{at} rejected the request: see the call for details.</>
  return <>Check the network, and the address of {at}.</>
}
