import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

/** The form to erase everything. It cannot be undone, so it looks different from the others and asks for a word. */
export function EraseAccount({ onErased }: { onErased: () => void }) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const [word, setWord] = useState('');
  const [isChecked, setIsChecked] = useState(false);
  const [isErased, setIsErased] = useState(false);
  const { busy, problem, run } = useAction();
  const { erase } = texts.account;
  const isTyped = word.trim().toLowerCase() === erase.word;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (!isTyped || !(await run(() => api.eraseMe()))) return;
    setIsErased(true);
    setWord('');
    setIsChecked(false);
    onErased();
  };

  return (
    <section className="card card-narrow stage final-act" aria-labelledby="erase">
      <h2 id="erase">{erase.title}</h2>
      <p>{erase.text}</p>
      <p className="fine-print">{erase.stays}</p>
      {problem && <ProblemNotice problem={problem} text={problem.code === 'INVALID_STATE' ? erase.notYet : undefined} />}
      {isErased && (
        <Notice tone="good" testId="account-erased">
          {erase.done}
        </Notice>
      )}
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Field
          label={erase.typeWord(erase.word)}
          value={word}
          onChange={setWord}
          error={isChecked && !isTyped ? erase.wordNeeded(erase.word) : undefined}
          testId="account-erase-word"
        />
        <Button type="submit" tone="danger" disabled={busy} testId="account-erase">
          {erase.button}
        </Button>
      </form>
    </section>
  );
}
