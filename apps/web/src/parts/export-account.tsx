import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

/** The button to save a file with all that is kept about the fan. A link cannot send the caller's headers, so it is fetched here. */
export function ExportAccount() {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const save = () =>
    run(async () => {
      const url = URL.createObjectURL(await api.exportMe());
      const link = document.createElement('a');
      link.href = url;
      link.download = 'tribina-export.json';
      link.click();
      URL.revokeObjectURL(url);
    });
  return (
    <section className="card card-narrow stage" aria-labelledby="export">
      <h2 id="export">{texts.account.exportTitle}</h2>
      <p className="fine-print">{texts.account.exportText}</p>
      {problem && <ProblemNotice problem={problem} />}
      <Button tone="quiet" disabled={busy} onClick={() => void save()} testId="account-export">
        {texts.account.exportButton}
      </Button>
    </section>
  );
}
