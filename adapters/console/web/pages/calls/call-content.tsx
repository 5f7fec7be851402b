import { useState } from 'preact/hooks'
import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { Card, ErrorNote, Verbatim } from '../../components/content.ts'
import { Button } from '../../components/forms.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { type Change, changedLines } from './changed-lines.ts'
import './calls.css'

/** Request and reply where they are stored, and what changed since the call before in the session. */
export function Content({ of: call, before }: { of: CallRecord; before: string | null }) {
  const [compared, setCompared] = useState(false)
  const live = useLive<CallRecord>(compared && before ? `/api/calls/${encodeURIComponent(before)}` : null, {
    everyMs: 60_000,
  })
  if (call.content === undefined)
    return (
      <Card title="Request and reply">
        <p class="hint">
          Not stored.{' '}
          {session.value?.isAdmin && (
            <>
              Turn on <code>audit.store_content</code> in the{' '}
              <a href={href('settings', { id: 'retention' })}>settings</a> to store requests and replies.
            </>
          )}
        </p>
      </Card>
    )
  return (
    <Card
      title="Request and reply"
      actions={
        before !== null && (
          <Button
            size="small"
            onClick={() => setCompared(!compared)}
            children={compared ? 'Show all' : 'Compare with the call before'}
          />
        )
      }
    >
      <ErrorNote error={live.error} onRetry={live.reload} />
      {compared && live.data ? (
        <Difference from={live.data} to={call} />
      ) : (
        <Verbatim label="Text of the request and reply" text={textOf(call)} />
      )}
    </Card>
  )
}

const textOf = ({ content }: CallRecord): string => JSON.stringify(content, null, 2)

const MARKS: Readonly<Record<Change['kind'], string>> = { same: ' ', removed: '−', added: '+' }

function Difference({ from, to }: { from: CallRecord; to: CallRecord }) {
  if (from.content === undefined) return <p class="hint">The content of the call before is not stored.</p>
  return (
    <>
      <p class="hint">
        Against <a href={href('calls', { id: from.call_id })}>the call before</a>: lines that were added and removed.
      </p>
      <pre role="region" tabIndex={0} aria-label="What differs">
        {changedLines(textOf(from), textOf(to)).map(({ kind, text }, place) => (
          <span key={place} class={`call-diff ${kind}`}>
            {MARKS[kind]} {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  )
}
