import { useRef } from 'react';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { emptyPlaces, type PlacesInput, type SectorChoice } from './places-input.ts';
import type { Faults } from './quota-input.ts';
import { Select } from './select.tsx';

interface OpsQuotaPlacesProps {
  places: readonly PlacesInput[];
  choices: readonly SectorChoice[];
  faults: Faults;
  /** The currency of the prices; without it the lines have no prices. */
  currency?: string;
  onChange: (places: readonly PlacesInput[]) => void;
}

/** The lines that say which places to take: so many of a sector, or of any sectors. */
export function OpsQuotaPlaces({ places, choices, faults, currency, onChange }: OpsQuotaPlacesProps) {
  const { texts, format } = useStaffLanguage();
  const { placesOf } = texts.opsQuotas;
  const frame = useRef<HTMLFieldSetElement>(null);
  const free = choices.reduce((sum, choice) => sum + choice.free, 0);
  const options = choices.map(({ id, name, free: ofSector }) => [id, placesOf.ofSector(name, format.number(ofSector))] as const);
  const change = (key: number, changed: Partial<PlacesInput>) =>
    onChange(places.map((line) => (line.key === key ? { ...line, ...changed } : line)));
  const remove = (key: number) => {
    onChange(places.filter((line) => line.key !== key));
    // The button that had the focus is gone. The keyboard continues at the button that adds a line.
    frame.current?.querySelector<HTMLButtonElement>(':scope > button')?.focus();
  };
  return (
    <fieldset className="quota-lines" ref={frame}>
      <legend>{placesOf.title}</legend>
      {currency && <p className="field-hint">{placesOf.priceHint}</p>}
      {places.map(({ key, sectorId, quantity, price }, line) => (
        <div key={key} className="quota-line" role="group" aria-label={placesOf.row(line + 1)}>
          <Select
            label={placesOf.sector}
            value={sectorId}
            all={placesOf.any(format.number(free))}
            options={options}
            onChange={(sector) => change(key, { sectorId: sector })}
            error={faults[`places.${line}.sector`]}
            testId={`quota-line-${line}-sector`}
          />
          <Field
            label={placesOf.quantity}
            type="number"
            value={quantity}
            onChange={(text) => change(key, { quantity: text })}
            maxLength={6}
            error={faults[`places.${line}.quantity`]}
            testId={`quota-line-${line}-quantity`}
          />
          {currency && (
            <Field
              label={placesOf.price(currency)}
              value={price}
              onChange={(text) => change(key, { price: text })}
              maxLength={9}
              error={faults[`places.${line}.price`]}
              testId={`quota-line-${line}-price`}
            />
          )}
          {places.length > 1 && (
            <Button tone="quiet" onClick={() => remove(key)} testId={`quota-line-${line}-remove`}>
              {placesOf.remove(line + 1)}
            </Button>
          )}
        </div>
      ))}
      <Button
        onClick={() => onChange([...places, emptyPlaces(Math.max(...places.map(({ key }) => key)) + 1)])}
        testId="quota-add-line"
      >
        {placesOf.add}
      </Button>
    </fieldset>
  );
}
