import { Empty, Page } from '../../components/content.ts'
import { href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { RouteEditor } from './route-editor.tsx'
import { UpstreamForm } from './upstream-form.tsx'
import { UpstreamList } from './upstream-list.tsx'

/** Id of the page that adds an upstream. */
const NEW = 'new'

/** Model providers and routes, or the form of one upstream. */
export default function UpstreamsPage({ id }: PageProps) {
  const intro = 'Model providers, their health, and the routes between them.'
  if (!session.value?.isAdmin)
    return (
      <Page title="Upstreams" intro={intro}>
        <Empty title="Admin key required" hint="GET /v1/models lists the models of your key." />
      </Page>
    )
  if (id !== null)
    return (
      <Page
        title={id === NEW ? 'Add an upstream' : id}
        back={{ label: 'Upstreams', href: href('upstreams') }}
        intro="Nothing is saved before you say so. Keys are never shown again."
      >
        <UpstreamForm key={id} name={id === NEW ? null : id} />
      </Page>
    )
  return (
    <Page title="Upstreams" intro={intro}>
      <UpstreamList />
      <RouteEditor />
    </Page>
  )
}
