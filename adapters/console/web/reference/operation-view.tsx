import './reference.css'
import { useState } from 'preact/hooks'
import { Card, Page, Tabs } from '../components/layout.tsx'
import type { ApiDocument, PlacedOperation, Schema } from './api-document.ts'
import { CodeBlock } from './code-block.tsx'
import { RecentCalls } from './recent-calls.tsx'
import { Method, SchemaView, Words } from './schema-view.tsx'
import { curl, exampleRequest, typescript } from './snippets.ts'
import { TryIt } from './try-it.tsx'

interface Body {
  content?: Record<string, { schema: Schema; example?: unknown }>
}

/** One operation: what it takes and answers, an example, and a form that sends it. */
export function OperationView(props: {
  operation: PlacedOperation
  document: ApiDocument
  base: string
  /** True when this port answers it, too. */
  isHere: boolean
  onSignIn: () => void
}) {
  const { operation, document, base } = props
  const { method, path, summary, description, parameters, requestBody } = operation
  const body = requestBody?.content['application/json'] as { schema: Schema } | undefined
  return (
    <Page title={summary} back={{ label: operation.tags[0] ?? 'API', href: '#' }}>
      <p class="ref-place">
        <Method of={method} /> <code>{path}</code>
      </p>
      <p>{description}</p>
      <div class="ref-columns">
        <div class="stack">
          {parameters.length > 0 && (
            <Card title="Parameters">
              <ul class="ref-fields">
                {parameters.map(({ name, in: where, required, schema, description: words }) => (
                  <li key={name}>
                    <p>
                      <code class="ref-name">{name}</code> <span class="muted">{where}</span>
                      {required && <span class="ref-required">required</span>}
                    </p>
                    <Words schema={{ ...(schema as Schema), description: words }} document={document} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
          {body && (
            <Card title="Body">
              <SchemaView schema={body.schema} document={document} />
            </Card>
          )}
          <Replies operation={operation} document={document} />
        </div>
        <div class="stack">
          <Snippets operation={operation} base={base} />
          <Card title="Try it">
            {props.isHere ? (
              <TryIt operation={operation} onSignIn={props.onSignIn} />
            ) : (
              <p>
                Send it to <code>{base}</code>: a page asks its own address alone.
              </p>
            )}
          </Card>
          {(path.startsWith('/v1/') || path.endsWith('/metered/call')) && (
            <Card title="Your recent calls">
              <RecentCalls path={path.startsWith('/v1/') ? path : '/v1/chat/completions'} />
            </Card>
          )}
        </div>
      </div>
    </Page>
  )
}

function Replies({ operation, document }: { operation: PlacedOperation; document: ApiDocument }) {
  const replies = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  return (
    <>
      {replies.map(([status, reply]) => {
        const schema = (reply as Body).content?.['application/json']?.schema
        return (
          <Card key={status} title={`Reply ${status}`}>
            {schema ? <SchemaView schema={schema} document={document} /> : <p>Without a body.</p>}
            <p class="hint">
              4XX and 5XX: <code>{'{"error": {code, message, type, param, request_id, doc_url}}'}</code>
            </p>
          </Card>
        )
      })}
    </>
  )
}

const LANGUAGES = [
  { id: 'curl', label: 'curl' },
  { id: 'typescript', label: 'TypeScript' },
] as const

function Snippets({ operation, base }: { operation: PlacedOperation; base: string }) {
  const [language, setLanguage] = useState<'curl' | 'typescript'>('curl')
  const request = exampleRequest(operation)
  const replies = Object.entries(operation.responses) as [string, Body][]
  const example = replies.find(([status]) => status.startsWith('2'))?.[1].content?.['application/json']?.example
  const text = language === 'curl' ? curl(request, base) : typescript(request, base)
  return (
    <Card title="Example">
      <Tabs label="Language" tabs={LANGUAGES} active={language} onChange={setLanguage} />
      <CodeBlock text={text} label={language === 'curl' ? 'the command' : 'the code'} />
      {example !== undefined && (
        <>
          <h3>Reply</h3>
          <CodeBlock text={JSON.stringify(example, null, 2)} label="the example of a reply" />
        </>
      )}
    </Card>
  )
}
