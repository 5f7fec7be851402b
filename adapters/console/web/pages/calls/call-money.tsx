import type { ReceiptRecord } from '../../../../../src/wallet/receipts/receipt.ts'
import type { ExplainedCall } from '../../../../platform/routes/calls-routes.ts'
import { Card, Copy, When } from '../../components/content.ts'
import { COST_FROM } from '../../components/cost-from.ts'
import { Exact } from '../../components/inline.tsx'
import { type Column, DataTable, figureColumn } from '../../components/lists.ts'
import { count } from '../../format.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'

/** Tokens of one kind, with their rate per million and their cost in USD, where they are known. Fees have no tokens. */
interface Line {
  kind: string
  tokens: number | null
  rate: number | undefined
  cost: number | undefined
}

const COLUMNS: Column<Line>[] = [
  { key: 'kind', label: 'Kind' },
  figureColumn('Tokens', ({ tokens }) => (tokens === null ? '—' : count(tokens))),
  figureColumn('A million', ({ rate }) => (rate === undefined ? '—' : <Exact usd={rate} />)),
  figureColumn('Cost', ({ cost }) => (cost === undefined ? '—' : <Exact usd={cost} />)),
]

/** Usage of a call, its price and source, and what it moved in the ledger. */
export function Money({ of: { call, receipts, transfers } }: { of: ExplainedCall }) {
  const receipt = receipts.find(({ call_id, upstream_call_id }) => [call_id, upstream_call_id].includes(call.call_id))
  const { usage, upstream_cost_usd: cost, price_from: from } = call
  const { isAdmin = false, isInference = false } = session.value ?? {}
  return (
    <>
      <Card title="Usage and price">
        {usage === null ? (
          <p>The provider reported no usage.</p>
        ) : (
          <DataTable
            label="Usage by kind"
            rows={linesOf(call, receipt)}
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
          {receipt?.price?.date && `, read on ${receipt.price.date}`}.{' '}
          {isAdmin && <a href={href('settings', { id: 'prices' })}>Change prices</a>}
        </p>
      </Card>
      <Card title="Ledger">
        {receipt ? <ReceiptLines of={receipt} /> : <p>No receipt: nothing was charged or counted for a key.</p>}
        {transfers.map(({ key, at, kind, amount_usd }) => (
          <p key={key}>
            <When at={at} /> {kind} <Exact usd={amount_usd} signed />{' '}
            <span class="muted">may be for several calls</span>{' '}
            {!isInference && (
              <a href={href('wallet', { id: 'ledger', query: { caller: isAdmin ? call.caller_id : null } })}>
                all transfers
              </a>
            )}
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

/** Smallest amount, in USD: costs are rounded up to it. */
const MICRO_USD = 1e-6

/** Lines that add up to the cost of a call. Without its rates, and where it was not computed from them, they have none. */
function linesOf(
  { usage, upstream_cost_usd: whole }: ExplainedCall['call'],
  receipt: ReceiptRecord | undefined,
): Line[] {
  if (usage === null) return []
  const { prompt_tokens, completion_tokens, cached_tokens: cached = 0, cache_write_tokens: written = 0 } = usage
  const { cache_write_1h_tokens: forAnHour = 0 } = receipt?.usage ?? {}
  const { price = null } = receipt ?? {}
  // Of several models, and with media at rates of their own, the rates of the request do not add up to the cost.
  const rates = price === null || price.mixed || price.audio || price.image || price.video ? null : price
  const ofWrites = rates?.cache_write ?? rates?.input
  const kinds: [kind: string, tokens: number, rate: number | undefined][] = [
    ['Input', prompt_tokens - cached - written, rates?.input],
    ['Cache read', cached, rates?.cached_input ?? rates?.input],
    ['Cache write', written - forAnHour, ofWrites],
    ['Cache write for an hour', forAnHour, rates?.cache_write_1h ?? ofWrites],
    ['Answer', completion_tokens, rates?.output],
  ]
  const used = kinds.filter(([, tokens]) => tokens > 0)
  const computed = used.reduce((sum, [, tokens, rate = 0]) => sum + (tokens * rate) / 1e6, 0)
  const fees = (whole ?? 0) - computed
  const isComputed = rates !== null && whole !== null && !receipt?.stated && fees > -MICRO_USD
  const lines = used.map(([kind, tokens, rate]): Line => {
    const cost = isComputed && rate !== undefined ? (tokens * rate) / 1e6 : undefined
    return { kind, tokens, rate: isComputed ? rate : undefined, cost }
  })
  if (!isComputed || fees < MICRO_USD) return lines
  return [...lines, { kind: 'Fees of tools', tokens: null, rate: undefined, cost: fees }]
}
