import type { ReceiptRecord } from '../../../../../src/wallet/receipts/receipt.ts'
import type { ExplainedCall } from '../../../../platform/routes/calls-routes.ts'
import { Card, type Column, Copy, DataTable, figureColumn, When } from '../../components/components.ts'
import { COST_FROM } from '../../components/cost-from.ts'
import { Exact } from '../../components/exact.tsx'
import { count } from '../../format.ts'
import { href } from '../../router.ts'

/** Tokens of one kind, with their rate per million in USD where the receipt has it. */
interface Line {
  kind: string
  tokens: number
  rate: number | undefined
}

const COLUMNS: Column<Line>[] = [
  { key: 'kind', label: 'Kind' },
  figureColumn('Tokens', ({ tokens }) => count(tokens)),
  figureColumn('$ a million', ({ rate }) => (rate === undefined ? '—' : rate.toFixed(2))),
  figureColumn('Cost', ({ tokens, rate }) => (rate === undefined ? '—' : <Exact usd={(tokens * rate) / 1e6} />)),
]

/** Usage of a call, its price and source, and what it moved in the ledger. */
export function Money({ of: { call, receipts, transfers } }: { of: ExplainedCall }) {
  const receipt = receipts.find(({ call_id, upstream_call_id }) => [call_id, upstream_call_id].includes(call.call_id))
  const { usage, upstream_cost_usd: cost, price_from: from } = call
  return (
    <>
      <Card title="Usage and price">
        {usage === null ? (
          <p>The provider reported no usage.</p>
        ) : (
          <DataTable
            label="Usage by kind"
            rows={linesOf(call, receipt?.price ?? null)}
            rowKey={({ kind }) => kind}
            columns={COLUMNS}
          />
        )}
        <p>
          <strong>Cost at the provider: {cost === null ? 'unknown' : <Exact usd={cost} />}</strong>
        </p>
        <p class="hint">
          {usage?.estimated ? 'Tokens were counted here' : 'Tokens as the provider reported them'}
          {from !== null && `; ${COST_FROM[from]}`}
          {receipt?.price?.source && `, ${receipt.price.source}`}
          {receipt?.price?.date && `, read on ${receipt.price.date}`}. <a href={href('settings')}>Change prices</a>
        </p>
      </Card>
      <Card title="Ledger">
        {receipt ? <ReceiptLines of={receipt} /> : <p>No receipt: nothing was charged or counted for a key.</p>}
        {transfers.map(({ key, at, kind, amount_usd }) => (
          <p key={key}>
            <When at={at} /> {kind} <Exact usd={amount_usd} signed />{' '}
            <span class="muted">may be for several calls</span>{' '}
            <a href={href('wallet', { id: 'ledger', query: { caller: call.caller_id } })}>all transfers</a>
          </p>
        ))}
      </Card>
    </>
  )
}

function ReceiptLines({ of: { billing, charged, call_id, capped, absorbed_usd, debt_usd } }: { of: ReceiptRecord }) {
  return (
    <>
      <p>
        Receipt <Copy text={call_id} isShort />: <Exact usd={billing.upstream_cost_usd} /> and a margin of{' '}
        <Exact usd={billing.margin_usd} />, together <Exact usd={billing.total_usd} />
        {charged ? ', charged' : ', recorded only'}.
      </p>
      {capped && <p class="hint">The call cost more than was taken for it.</p>}
      {absorbed_usd > 0 && (
        <p class="hint">
          <Exact usd={absorbed_usd} /> of the provider’s bill is the operator’s.
        </p>
      )}
      {debt_usd > 0 && (
        <p class="hint">
          <Exact usd={debt_usd} /> is owed.
        </p>
      )}
    </>
  )
}

function linesOf({ usage }: ExplainedCall['call'], price: ReceiptRecord['price']): Line[] {
  if (usage === null) return []
  const { prompt_tokens, completion_tokens, cached_tokens: cached = 0, cache_write_tokens: written = 0 } = usage
  // Of several models, and with speech, the rates of the request do not add up to the cost.
  const rates = price === null || price.mixed || price.audio ? null : price
  const lines = [
    { kind: 'Input', tokens: prompt_tokens - cached - written, rate: rates?.input },
    { kind: 'Cache read', tokens: cached, rate: rates?.cached_input ?? rates?.input },
    { kind: 'Cache write', tokens: written, rate: rates?.cache_write ?? rates?.input },
    { kind: 'Answer', tokens: completion_tokens, rate: rates?.output },
  ]
  return lines.filter(({ tokens }) => tokens > 0)
}
