import { Link } from '../parts/link.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

export function NotFoundPage() {
  const { texts } = useLanguage();
  return (
    <section className="card card-narrow">
      <PageTitle>{texts.common.notFoundTitle}</PageTitle>
      <p>{texts.common.notFoundText}</p>
      <Link to={paths.matches} className="button">
        {texts.common.backToMatches}
      </Link>
    </section>
  );
}
