import { useState } from 'preact/hooks'
import type { TriedUpstream } from '../../../../platform/routes/try-upstream-routes.ts'
import type { Tested } from '../../../../platform/routes/upstream-routes.ts'
import { api, PATIENT_MS } from '../../api.ts'
import {
  Button,
  Card,
  DataTable,
  ErrorNote,
  Field,
  figureColumn,
  TextInput,
  useAction,
} from '../../components/components.ts'
import { count } from '../../format.ts'
import { VerdictBadge } from '../doctor/findings.tsx'
import { TestedNote } from './dry-run.tsx'

/** Rows of models that are shown. */
const SHOWN = 25

type Model = TriedUpstream['models'][number]

/** Result of a test: the verdict, and the models with their prices. @param changes settings that are tested */
export function Tried(props: { name: string; of: TriedUpstream; changes: () => Record<string, unknown> }) {
  const { name, of, changes } = props
  const [wanted, setWanted] = useState('')
  const matching = of.models.filter(({ id }) => id.toLowerCase().includes(wanted.trim().toLowerCase()))
  const unpriced = of.models.filter(({ input }) => input === null).length
  return (
    <Card title={of.verdict === 'fail' ? 'The test failed' : `Models listed: ${count(of.total)}`}>
      <p role="status">
        <VerdictBadge verdict={of.verdict} /> {of.text}
      </p>
      {of.models.length > SHOWN && (
        <Field label="Find a model">
          <TextInput type="search" value={wanted} onInput={setWanted} />
        </Field>
      )}
      {of.models.length > 0 && (
        <DataTable<Model>
          label="Models"
          rows={matching.slice(0, SHOWN)}
          rowKey={({ id }) => id}
          columns={[
            { key: 'id', label: 'Model', align: 'words' },
            figureColumn('Input, $ per 1M', ({ input }) => input ?? '—'),
            figureColumn('Output, $ per 1M', ({ output }) => output ?? '—'),
            figureColumn('Context', ({ context }) => (context === null ? '—' : count(context))),
            { key: 'test', label: 'Test', render: ({ id }) => <Test name={name} model={id} changes={changes} /> },
          ]}
        />
      )}
      {matching.length > SHOWN && <p class="hint">{count(matching.length - SHOWN)} more match.</p>}
      {unpriced > 0 && (
        <p class="hint">
          {count(unpriced)} have no price: set them in Settings → Prices, or keys with budgets may not use them.
        </p>
      )}
    </Card>
  )
}

function Test(props: { name: string; model: string; changes: () => Record<string, unknown> }) {
  const { name, model, changes } = props
  const [tested, setTested] = useState<Tested | null>(null)
  const { busy, error, run } = useAction()
  const test = async () => {
    const path = `/api/upstreams/${encodeURIComponent(name)}/try` as const
    const tried = await api.post(path, { changes: changes(), test: model }, { timeoutMs: PATIENT_MS })
    setTested(tried.tested)
  }
  return (
    <>
      <Button size="small" busy={busy} label={`Test ${model}`} onClick={() => void run(test)}>
        Test
      </Button>{' '}
      <ErrorNote error={error} />
      <TestedNote of={tested} />
    </>
  )
}
