import type { Period } from '../../../../../src/text/period.ts'
import { PERIOD_OPTIONS } from '../../components/budgets.tsx'
import { Button, type Editing, type FaultOf, Field, Select, TextInput } from '../../components/components.ts'
import './keys.css'
import type { BudgetDraft, Draft } from './key-terms.ts'

/**
 * Fields for any number of budgets, one for each period.
 *
 * @param at path of the budgets in the draft and the request
 */
export function BudgetFields(props: Editing<Draft> & { at: string; faultOf: FaultOf }) {
  const { draft, at, faultOf } = props
  const of = draft[at] as readonly BudgetDraft[]
  const onEdit = (budgets: readonly BudgetDraft[]) => props.edit({ [at]: budgets })
  const free = PERIOD_OPTIONS.filter(({ value }) => !of.some(({ per }) => per === value))
  const next = free[0]?.value
  const edit = (i: number, change: Partial<BudgetDraft>) =>
    onEdit(of.map((budget, j) => (j === i ? { ...budget, ...change } : budget)))

  return (
    <fieldset>
      <legend>Budgets</legend>
      {of.length === 0 && <p class="hint">No limit.</p>}
      {of.map(({ usd, per }, i) => (
        <div key={i} class="budget">
          <Field label={`Budget ${i + 1} in USD`} error={faultOf(`${at}.${i}`)}>
            <TextInput value={usd} onInput={(text) => edit(i, { usd: text })} inputMode="decimal" autoComplete="off" />
          </Field>
          <Field label={`Period ${i + 1}`}>
            <Select<Period>
              value={per}
              options={PERIOD_OPTIONS.filter((one) => one.value === per || free.includes(one))}
              onChange={(chosen) => edit(i, { per: chosen })}
            />
          </Field>
          <Button size="small" label={`Remove budget ${i + 1}`} onClick={() => onEdit(of.filter((_, j) => j !== i))}>
            Remove
          </Button>
        </div>
      ))}
      <div class="actions">
        {next && (
          <Button size="small" onClick={() => onEdit([...of, { usd: '', per: next }])}>
            Add a budget
          </Button>
        )}
      </div>
    </fieldset>
  )
}
