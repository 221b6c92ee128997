import { readStartupConfig } from '../api/startup-config.ts';
import type { StaffRoute } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { Loading, Notice, ProblemNotice } from './notice.tsx';
import { PageTitle } from './page-title.tsx';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Loads the script and the style of the pages of operators and partners when one of them is opened, so that fans do not load them. */
export function StaffPageLoader({ route }: { route: StaffRoute }) {
  const { value: pages, problem } = useLoaded(() => import('../pages/staff-pages.tsx'), 'staff pages');
  if (pages) return <pages.StaffPage route={route} />;
  return problem ? <PageNotLoaded /> : <Loading />;
}

/**
 * Shown when the script or the style could not be loaded: there is no connection, or the files are those of a version that has been
 * replaced since this page was opened. To try again is to reload the page, because Chrome and Firefox do not repeat a failed import.
 * Before that the service is asked whether it answers: a reload without a connection would lose the page.
 */
function PageNotLoaded() {
  const { texts } = useLanguage();
  const service = useLoaded(readStartupConfig, 'service');
  const { busy, problem = service.problem, run } = useAction();
  if (!service.value && !service.problem) return <Loading />;
  const reload = async () => {
    if (await run(readStartupConfig)) location.reload();
  };
  const { title, updated, reload: label } = texts.common.notLoaded;
  return (
    <section className="card card-narrow stage" data-testid="page-not-loaded">
      <PageTitle>{title}</PageTitle>
      {busy ? <Loading /> : problem ? <ProblemNotice problem={problem} /> : <Notice tone="warning">{updated}</Notice>}
      <Button tone="primary" aria-disabled={busy} onClick={() => void (busy || reload())} testId="reload-page">
        {problem ? texts.common.retry : label}
      </Button>
    </section>
  );
}
