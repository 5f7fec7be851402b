import type { Pricing } from '../../../../../src/wallet/receipts/pricing.ts'
import { Card, Grid, NotLoaded, Stat } from '../../components/content.ts'
import { Exact } from '../../components/inline.tsx'
import { DataTable, figureColumn } from '../../components/lists.ts'
import { useLive } from '../../use-live.ts'

/** Prices of metered calls. */
export function Prices() {
  const prices = useLive<Pricing>('/api/wallet/metered/pricing', { everyMs: 10_000 })
  const { data } = prices
  if (!data) return <NotLoaded of={prices} what="the prices" />
  return (
    <>
      <Grid of="figures">
        <Stat label="Margin per call" value={<Exact usd={data.margin_usd} />} hint="added to the cost of tokens" />
        <Stat label="Token" value={data.token} hint="used for settlements" />
        <Stat label="Network" value={data.network} hint="of the settlement token" />
      </Grid>
      <Card title="Models">
        <DataTable<Pricing['models'][number]>
          label="Prices of models"
          rows={data.models}
          columns={[
            { key: 'id', label: 'Model', render: ({ id }) => <code>{id}</code> },
            { key: 'use', label: 'For', align: 'words' },
            figureColumn('Input per 1M tokens', ({ prices_per_1m_tokens_usd: { input } }) => <Exact usd={input} />),
            figureColumn('Output per 1M tokens', ({ prices_per_1m_tokens_usd: { output } }) => <Exact usd={output} />),
            figureColumn('Max. cost of 2,000 tokens', ({ price_per_1k_tokens_usd }) => (
              <Exact usd={callPrice(2_000, price_per_1k_tokens_usd, data)} />
            )),
          ]}
          empty="No metered models"
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
