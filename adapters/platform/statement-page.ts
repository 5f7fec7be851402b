import { html, raw } from 'hono/html'
import type { SignedStatement, StatementCharge } from '../../src/wallet/wallet.ts'

const STYLE = `
:root { color-scheme: light; }
body { font: 14px/1.4 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
td, th { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #ccc; vertical-align: top; }
.usd { text-align: right; font-variant-numeric: tabular-nums; }
code { font-size: .8rem; overflow-wrap: anywhere; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
@media print { body { margin: 0; max-width: none; } }
`

/** Names of the totals, in the order of the page. */
const TOTALS = {
  deposits_usd: 'Deposits',
  refunds_usd: 'Refunds',
  escrow_usd: 'Locked in escrow',
  earned_usd: 'Rewards earned',
  withdrawals_usd: 'Withdrawals',
  purchases_usd: 'Paid requests',
  moved_usd: 'Moved between accounts',
  upstream_cost_usd: 'Cost of calls',
  margin_usd: 'Margin',
} as const

/** Writes a statement as a page to print. It has no script and loads nothing. */
export function statementPage(statement: SignedStatement): string {
  const { period, of, closed_at, opening_usd, closing_usd, totals, charges, ledger_head, signature } = statement
  const { group_by } = statement
  const account = of.kind === 'all' ? 'all accounts' : `${of.kind} ${of.id}`
  return String(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Statement ${period}, ${account}</title><style>${raw(STYLE)}</style></head>
<body>
<h1>Statement ${period}</h1>
<p>${account}, in US dollars, UTC. ${closed_at === null ? 'The period is not closed: more can be booked.' : `Closed ${closed_at}.`}</p>
<table>
<tr><th>Opening balance</th><td class="usd">${usd(opening_usd)}</td></tr>
${Object.entries(TOTALS).map(
  ([name, label]) => html`<tr><td>${label}</td><td class="usd">${usd(totals[name as keyof typeof TOTALS])}</td></tr>`,
)}
<tr><th>Closing balance</th><th class="usd">${usd(closing_usd)}</th></tr>
</table>
<p>Cost of calls that are recorded and not charged: ${usd(totals.recorded_usd)}. Paid on a chain: ${usd(totals.settlements_usd)}.
Borne by the operator: ${usd(totals.absorbed_usd)}. Charged into debt: ${usd(totals.debts_usd)}.</p>
<h2>Calls</h2>
<table>
<thead><tr>${group_by === undefined ? html`<th>Day</th><th>Model</th>` : html`<th colspan="2">By ${group_by}</th>`}<th>Calls</th><th>Tokens</th><th>Price for 1,000,000</th><th class="usd">Cost</th>
<th class="usd">Margin</th></tr></thead>
${charges.map(
  (
    charge,
  ) => html`<tr>${group_by === undefined ? html`<td>${charge.day}</td><td>${charge.model}<br>${charge.upstream}</td>` : html`<td colspan="2">${charge.group ?? '-'}</td>`}<td>${charge.calls}${notes(charge)}</td>
<td>${units(charge)}</td><td>${price(charge)}</td><td class="usd">${usd(charge.upstream_cost_usd)}</td>
<td class="usd">${usd(charge.margin_usd)}</td></tr>`,
)}
</table>
<p>Head of the ledger: <code>${ledger_head}</code></p>
<p>Signed (DSSE) by <code>${signature.signatures[0]?.keyid}</code>: <code>${signature.signatures[0]?.sig}</code></p>
</body></html>`)
}

const usd = (amount: number): string => amount.toFixed(6)

function notes({ charged, estimated_calls, capped_calls, stated_calls }: StatementCharge): string {
  const said = [
    charged ? '' : 'not charged',
    estimated_calls > 0 ? `${estimated_calls} estimated` : '',
    capped_calls > 0 ? `${capped_calls} capped` : '',
    stated_calls > 0 ? `${stated_calls} stated by the vendor` : '',
  ].filter(Boolean)
  return said.length === 0 ? '' : ` (${said.join(', ')})`
}

function units(charge: StatementCharge): string {
  const { prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens } = charge
  const parts = [
    `${prompt_tokens - cached_tokens - cache_write_tokens} input`,
    cached_tokens > 0 ? `${cached_tokens} cached` : '',
    cache_write_tokens > 0 ? `${cache_write_tokens} cache write` : '',
    `${completion_tokens} output`,
  ]
  return parts.filter(Boolean).join(', ')
}

function price({ price: of }: StatementCharge): string {
  if (of === null) return '-'
  const { input, output, tier, from, date } = of
  return `${input} in, ${output} out${tier === null ? '' : `, ${tier}`} (${from}${date === undefined ? '' : ` ${date}`})`
}
