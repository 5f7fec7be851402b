import { useState } from 'preact/hooks'
import type { TriedUpstream } from '../../../../platform/routes/try-upstream-routes.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { Card } from '../../components/content.ts'
import { TextField } from '../../components/forms.ts'
import { DataTable, figureColumn } from '../../components/lists.ts'
import { count } from '../../format.ts'
import { VerdictBadge } from '../doctor/findings.tsx'
import { TestButton } from './test-button.tsx'

/** Rows of models that are shown. */
const SHOWN = 25

type Model = TriedUpstream['models'][number]

/** Result of a test: the verdict, and the models with their prices. @param changes settings that are tested */
export function Tried(props: { name: string; of: TriedUpstream; changes: () => Record<string, unknown> }) {
  const { name, of, changes } = props
  const [wanted, setWanted] = useState('')
  const test = async (model: string) => {
    const path = `/api/upstreams/${encodeURIComponent(name)}/try` as const
    return (await api.post(path, { changes: changes(), test: model }, { timeoutMs: PATIENT_MS })).tested
  }
  const matching = of.models.filter(({ id }) => id.toLowerCase().includes(wanted.trim().toLowerCase()))
  const unpriced = of.models.filter(({ input }) => input === null).length
  return (
    <Card title={of.verdict === 'fail' ? 'The test failed' : `Models listed: ${count(of.total)}`}>
      <p role="status">
        <VerdictBadge verdict={of.verdict} /> {of.text}
      </p>
      {of.models.length > SHOWN && <TextField label="Find a model" type="search" value={wanted} onInput={setWanted} />}
      {of.models.length > 0 && (
        <DataTable<Model>
          label="Models"
          rows={matching.slice(0, SHOWN)}
          columns={[
            { key: 'id', label: 'Model', align: 'words' },
            figureColumn('Input, $ per 1M', ({ input }) => input ?? '—'),
            figureColumn('Output, $ per 1M', ({ output }) => output ?? '—'),
            figureColumn('Context', ({ context }) => (context === null ? '—' : count(context))),
            { key: 'test', label: 'Test', render: ({ id }) => <TestButton of={id} test={() => test(id)} /> },
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
