import type { SaleStatus } from '#contracts/matches';
import type { Translate } from './texts.ts';

/** The texts of the frame of the page, and of the matches and their sales. */
export const shopTexts = (t: Translate) => ({
  languageName: t('English', 'Hrvatski'),
  tagline: t('Tickets for football matches', 'Ulaznice za nogometne utakmice'),
  nav: {
    label: t('Main', 'Glavni izbornik'),
    matches: t('Matches', 'Utakmice'),
    tickets: t('My tickets', 'Moje ulaznice'),
    partners: t('For partners', 'Za partnere'),
    operators: t('For operators', 'Za organizatore'),
    skip: t('Skip to content', 'Preskoči na sadržaj'),
    language: t('Language', 'Jezik'),
    home: t('Tribina: all matches', 'Tribina, na utakmice'),
  },
  common: {
    loading: t('Loading…', 'Učitavanje…'),
    retry: t('Try again', 'Pokušaj ponovno'),
    backToMatches: t('Back to matches', 'Natrag na utakmice'),
    notFoundTitle: t('Page not found', 'Stranica nije pronađena'),
    notFoundText: t('There is nothing at this address.', 'Na ovoj adresi nema ničega.'),
    startFailed: t('Tribina cannot be reached at the moment.', 'Tribina trenutačno nije dostupna.'),
    notLoaded: {
      title: t('This page did not load', 'Stranica se nije učitala'),
      updated: t(
        'Tribina was probably updated since you opened it. Reload the page to get the new version.',
        'Tribina je vjerojatno ažurirana otkako ste je otvorili. Ponovno učitajte stranicu da biste dobili novu verziju.',
      ),
      reload: t('Reload the page', 'Ponovno učitaj stranicu'),
    },
    requestId: (id: string) => t(`Reference for support: ${id}`, `Oznaka za podršku: ${id}`),
  },
  fan: {
    demo: t('Demo', 'Demo'),
    youAre: (id: string) => t(`You are fan ${id}`, `Vi ste navijač ${id}`),
    change: t('Become somebody else', 'Postani netko drugi'),
    signInTitle: t('Sign in', 'Prijava'),
    token: t('Access token from your club’s sign-in', 'Pristupni token iz prijave vašega kluba'),
    signIn: t('Use this token', 'Upotrijebi token'),
    signOut: t('Sign out', 'Odjava'),
    signedIn: t('You are signed in.', 'Prijavljeni ste.'),
    needed: t('Sign in to buy tickets.', 'Za kupnju ulaznica potrebna je prijava.'),
  },
  matches: {
    title: t('Matches', 'Utakmice'),
    intro: t(
      'Choose a match. When many fans come at once, everybody waits in one fair line.',
      'Odaberite utakmicu. Kad mnogi navijači dođu odjednom, svi čekaju u istom, poštenom redu.',
    ),
    empty: t('No matches are announced at the moment.', 'Trenutačno nema najavljenih utakmica.'),
    search: t('Search by team or venue', 'Traži po klubu ili stadionu'),
    nothingFound: (text: string) => t(`No match was found for “${text}”.`, `Nijedna utakmica ne odgovara upitu „${text}”.`),
    from: t('from', 'od'),
    versus: t('against', 'protiv'),
    buy: t('Buy tickets', 'Kupi ulaznice'),
    details: t('Details', 'Pojedinosti'),
    opensAt: (when: string) => t(`On sale from ${when}`, `U prodaji od: ${when}`),
    kickoff: t('Kick-off', 'Početak'),
    venue: t('Venue', 'Stadion'),
    withQueue: t('With waiting room', 'S čekaonicom'),
  },
  saleStatus: {
    scheduled: t('Not on sale yet', 'Uskoro u prodaji'),
    open: t('On sale', 'U prodaji'),
    paused: t('Sale paused', 'Prodaja pauzirana'),
    sold_out: t('Sold out', 'Rasprodano'),
    closed: t('Sale closed', 'Prodaja zatvorena'),
  } satisfies Record<SaleStatus, string>,
  saleExplained: {
    scheduled: t(
      'The sale has not opened yet. This page updates by itself when it opens.',
      'Prodaja još nije počela. Čim počne, ova će se stranica sama osvježiti.',
    ),
    paused: t(
      'The organiser has paused the sale. This page updates by itself when the sale continues.',
      'Organizator je pauzirao prodaju. Čim se nastavi, ova će se stranica sama osvježiti.',
    ),
    sold_out: t(
      'All tickets are sold. Returned tickets reopen the sale, so check again later.',
      'Sve su ulaznice prodane. Vraćene ulaznice ponovno otvaraju prodaju, pa se isplati navratiti poslije.',
    ),
    closed: t('The sale for this match is closed.', 'Prodaja za ovu utakmicu je zatvorena.'),
  },
});
