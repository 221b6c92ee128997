/** The logo: the rows of a stand, rising to the right. */
export function BrandMark() {
  return (
    <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M5 25h22M9 19h18M14 13h13M19 7h8" />
    </svg>
  );
}
