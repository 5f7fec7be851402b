import { useState } from 'preact/hooks'
import type { UsageReport, UsageSums } from '../../../../../src/wallet/receipts/usage-report.ts'
import { nameOf } from '../../components/caller-name.tsx'
import { Card, Empty, ErrorNote, Grid, Loading, Page, Stat } from '../../components/content.ts'
import { SelectField } from '../../components/forms.ts'
import { BarList, LineChart } from '../../components/lists.ts'
import { callsText, count, short, usd } from '../../format.ts'
import { href, type PageProps } from '../../router.ts'
import { DAY_MS, firstOfDays } from '../../time.ts'
import { timeText } from '../../typed.ts'
import { useLive } from '../../use-live.ts'
import { Receipts } from './receipt-table.tsx'
import { daysOf, PERIODS, type Period } from './usage-period.ts'

/** Cost of metered calls by day, caller and model, with their receipts; or the receipts that one of its figures sums up. */
export default function UsagePage({ id, query }: PageProps) {
  const [period, setPeriod] = useState<Period>('30')
  const receipts = <Receipts id={id} query={query} />
  if (id !== null)
    return (
      <Page title="Receipts" back={{ label: 'Usage', href: href('usage') }}>
        {receipts}
      </Page>
    )
  return (
    <Page
      title="Usage"
      intro="The cost of metered calls. Days are in UTC."
      actions={<SelectField label="Period" value={period} options={PERIODS} onChange={setPeriod} />}
    >
      {/* Keyed by period, so that the sums of one period never appear under another, not even while loading. */}
      <Spending key={period} period={period} />
      {receipts}
    </Page>
  )
}

/** Sums of one period. */
function Spending({ period }: { period: Period }) {
  const from = firstOfDays(Number(period))
  const of = `/api/wallet/metered/usage?limit=1&from=${from}`
  const byDay = useLive<UsageReport>(`${of}&group_by=day`, { everyMs: 5000 })
  const byModel = useLive<UsageReport>(`${of}&group_by=model`, { everyMs: 5000 })
  const { data } = byDay
  const rows = (query: Record<string, string> = {}) =>
    href('usage', { id: 'receipts', query: { from: timeText(from), ...query } })
  return (
    <>
      <ErrorNote error={byDay.error ?? byModel.error} onRetry={byDay.reload} />
      {!data && byDay.loading && <Loading what="the usage" />}
      {data && <Totals of={data.totals} rows={rows()} />}
      {data && data.totals.calls === 0 && (
        <Card>
          <Empty
            title="No metered calls in this period"
            hint={
              <>
                Agents call <code>POST /api/wallet/metered/call</code>. The cost appears here at once.
              </>
            }
          />
        </Card>
      )}
      {data && data.totals.calls > 0 && (
        <>
          <Card title="Spending by day">
            <LineChart
              label="Spending by day"
              days
              filled
              series={[
                { label: 'Total', points: daysOf(data.groups, from, (day) => day.total_usd) },
                { label: 'Upstream cost', points: daysOf(data.groups, from, (day) => day.upstream_cost_usd) },
              ]}
              format={usd}
              hrefOf={(ms) => rows({ from: timeText(ms), to: timeText(ms + DAY_MS) })}
            />
          </Card>
          <Grid>
            <Card title="By caller">
              <BarList
                label="Spending by caller"
                items={data.by_caller.slice(0, 12).map((sums) => ({
                  label: nameOf(sums.caller_id),
                  value: sums.total_usd,
                  text: textOf(sums),
                  href: rows({ caller: sums.caller_id }),
                }))}
              />
            </Card>
            <Card title="By model">
              {byModel.data && (
                <BarList
                  label="Spending by model"
                  items={byModel.data.groups
                    .toSorted((a, b) => b.total_usd - a.total_usd)
                    .map((sums) => ({
                      label: sums.key,
                      value: sums.total_usd,
                      text: textOf(sums),
                      href: rows({ model: sums.key }),
                    }))}
                />
              )}
            </Card>
          </Grid>
        </>
      )}
    </>
  )
}

/** Sums of receipts. @param rows list of these receipts */
function Totals({ of, rows }: { of: UsageSums; rows: string }) {
  return (
    <Grid of="figures">
      <Stat label="Spent" href={rows} value={usd(of.total_usd)} hint="upstream cost and margin" />
      <Stat label="Upstream cost" href={rows} value={usd(of.upstream_cost_usd)} />
      <Stat label="Margin" href={rows} value={usd(of.margin_usd)} tone="good" />
      <Stat label="Calls" href={rows} value={count(of.calls)} />
      <Stat label="Tokens" href={rows} value={short(of.total_tokens)} />
    </Grid>
  )
}

const textOf = ({ total_usd, calls }: UsageSums): string => `${usd(total_usd)} · ${callsText(calls)}`
