import type { Pricing } from '../../../../../src/wallet/pricing.ts'
import { Card, DataTable, Empty, ErrorNote, Grid, Loading, Money, Stat } from '../../components/components.ts'
import { useLive } from '../../use-live.ts'

/** Prices of metered calls. */
export function Prices() {
  const { data, error, reload } = useLive<Pricing>('/api/wallet/metered/pricing', { everyMs: 10_000 })
  if (!data) return error ? <ErrorNote error={error} onRetry={reload} /> : <Loading what="the prices" />
  return (
    <>
      <Grid of="figures">
        <Stat label="Margin of a call" value={<Money usd={data.margin_usd} />} hint="added to what its tokens cost" />
        <Stat label="Token" value={data.token} hint="that settlements are paid in" />
        <Stat label="Network" value={data.network} hint="that they are paid on" />
      </Grid>
      <Card title="Models">
        <DataTable
          label="Prices of models"
          rows={data.models}
          rowKey={({ id }) => id}
          columns={[
            { key: 'id', label: 'Model', render: ({ id }) => <code>{id}</code> },
            { key: 'use', label: 'For' },
            {
              key: 'input',
              label: '1,000,000 tokens of input',
              align: 'right',
              render: ({ prices_per_1m_tokens_usd: { input } }) => <Money usd={input} />,
            },
            {
              key: 'output',
              label: 'Of output',
              align: 'right',
              render: ({ prices_per_1m_tokens_usd: { output } }) => <Money usd={output} />,
            },
            {
              key: 'call',
              label: 'A call of 2,000 tokens, at most',
              align: 'right',
              render: ({ price_per_1k_tokens_usd }) => <Money usd={callPrice(2_000, price_per_1k_tokens_usd, data)} />,
            },
          ]}
          empty={<Empty title="No model is metered" />}
        />
        <p class="hint">Change prices in Settings, under pricing.</p>
      </Card>
    </>
  )
}

/** Cost of a call in USD with at most 6 decimals: tokens × price + margin. */
function callPrice(tokens: number, pricePer1k: number, { margin_usd }: Pricing): number {
  return Math.round((tokens * pricePer1k * 1e6) / 1000 + margin_usd * 1e6) / 1e6
}
