import { useState } from 'preact/hooks'
import { Card, Empty, ErrorNote, Loading, Page, When } from '../../components/content.ts'
import { Button } from '../../components/forms.ts'
import { session } from '../../signed-in.ts'
import { type FindingOf, mendOf, useDoctor, VerdictBadge } from './findings.tsx'

/** Verdicts in the order of their findings on the page. */
const ORDER: readonly FindingOf['verdict'][] = ['fail', 'warn', 'ok']

/** The checks of `gazeway doctor`, each with what to do and where. */
export default function DoctorPage() {
  const isAdmin = session.value?.isAdmin ?? false
  /** Time of the checks that are being repeated. */
  const [repeated, setRepeated] = useState<string | null>(null)
  const { data, error, loading, reload } = useDoctor(isAdmin, repeated === null ? undefined : 0)
  const again = () => {
    setRepeated(data?.at ?? null)
    reload()
  }
  const busy = error === null && repeated !== null && repeated === data?.at
  const items = (data?.items ?? []).toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict))
  const faults = items.filter(({ verdict }) => verdict !== 'ok').length
  return (
    <Page
      title="Doctor"
      intro="Checks of the store, the upstreams and all that is configured, as gazeway doctor makes them."
      actions={isAdmin && <Button busy={busy} onClick={again} children="Check again" />}
    >
      {!isAdmin && <Empty title="Admin key required" hint="The checks read what belongs to all keys." />}
      <ErrorNote error={error} onRetry={reload} />
      {loading && <Loading what="the checks, which ask every upstream" />}
      {data && (
        <Card title={faults === 0 ? 'All checks pass' : `${faults} of ${items.length} checks need a look`}>
          <ul class="checks" aria-label="Findings">
            {items.map((finding) => (
              <li key={finding.name}>
                <VerdictBadge verdict={finding.verdict} />
                <strong>{finding.name}</strong>
                <p>{finding.text}</p>
                <Mend of={finding} />
              </li>
            ))}
          </ul>
          <p class="hint">
            Checked <When at={data.at} />. The command also reads a whole SQLite file for damage.
          </p>
        </Card>
      )}
    </Page>
  )
}

function Mend({ of }: { of: FindingOf }) {
  const mend = of.verdict === 'ok' ? null : mendOf(of)
  return mend && <a href={mend[1]}>{mend[0]}</a>
}
