"""The English words for food allergens, by the family they belong to.

The families are the 14 groups of substances of Regulation (EU) No 1169/2011, Annex II, and the 9 major food
allergens of the United States: the 8 of FALCPA (Food Allergen Labeling and Consumer Protection Act of 2004, Public
Law 108-282, Title II, section 203, now 21 U.S.C. 321(qq)) and sesame (FASTER Act of 2021, Public Law 117-11,
section 2). The point of Annex II, and the name in US law, stand above each family.

Where the two differ the wider reading is a family: wheat (US) belongs to gluten (EU), crustaceans (EU and US) and
molluscs (EU) to shellfish, as guests and menus call both, and pine nuts (US) to tree nuts.

A family is called what most menus call it. Case, accents and plurals make no difference. Of several phrases that
begin at one word, the longest counts: "almond milk" is no milk. A phrase under several families means each of them.
"""

from collections.abc import Mapping

from state.language.lists import listed

FAMILIES: Mapping[str, tuple[str, ...]] = {
    # Annex II, 1: cereals containing gluten (wheat, spelt, khorasan wheat, rye, barley, oats). US: wheat.
    "gluten": listed("""
        gluten, cereals containing gluten, wheat, whole wheat, wheat flour, flour, celiac, coeliac,
        celiac disease, coeliac disease, celiacs, coeliacs, spelt, khorasan, kamut, rye, barley,
        oat, oats, oatmeal, oat milk, einkorn, emmer, triticale, farro, durum, semolina, couscous,
        bulgur, bulgur wheat, freekeh, seitan, wheat germ, bran, malt, malted, bread, breads,
        breaded, breadcrumb, breadcrumbs, panko, crouton, croutons, dough, toast, baguette,
        ciabatta, focaccia, brioche, croissant, bagel, pita, pitta, naan, chapati, flour tortilla,
        bun, batter, battered, crust, pastry, puff pastry, phyllo, filo, cracker, pretzel, muffin,
        biscuit, biscotti, ladyfinger, ladyfingers, waffle, pancake, pizza, pasta, noodle, noodles,
        egg noodles, ramen, udon, spaghetti, penne, linguine, fettuccine, tagliatelle, pappardelle,
        rigatoni, macaroni, orzo, lasagna, lasagne, ravioli, tortellini, gnocchi, orecchiette,
        bucatini, dumpling, wonton, beer, lager, ale, stout
        """),
    # Annex II, 2 (crustaceans) and 14 (molluscs). US: Crustacean shellfish.
    "shellfish": listed("""
        shellfish, seafood, fruits de mer, frutti di mare, crustacean, crustaceans,
        crustacean shellfish, shrimp, shrimps, prawn, king prawn, tiger prawn, scampi, langoustine,
        crayfish, crawfish, lobster, crab, crabmeat, crab meat, krill, shrimp paste, prawn crackers,
        shrimp chips, surimi, crab stick, imitation crab, ebi, amaebi, gambas, gamberi, camarones,
        mollusc, molluscs, mollusk, mollusks, clam, mussel, mussels, oyster, oyster sauce, scallop,
        cockle, whelk, winkle, abalone, conch, snail, escargot, squid, calamari, calamar, calamares,
        cuttlefish, octopus, polpo, pulpo, tako, squid ink, vongole, cozze
        """),
    # Annex II, 3: eggs. US: eggs.
    "egg": listed("""
        egg, eggs, egg white, egg yolk, yolk, albumen, albumin, ovalbumin, mayonnaise, mayo, aioli,
        hollandaise, bearnaise, meringue, omelette, omelet, frittata, quiche, custard, egg noodles,
        tamago, carbonara
        """),
    # Annex II, 4: fish. US: fish.
    "fish": listed("""
        fish, fishes, seafood, finned fish, finfish, fish sauce, nam pla, fish sticks, roe,
        fish roe, caviar, anchovy, anchovies, bass, sea bass, branzino, bream, catfish, cod,
        bacalao, eel, unagi, flounder, grouper, haddock, halibut, herring, hake, mackerel,
        mahi mahi, monkfish, perch, pike, plaice, pollock, salmon, lox, sardine, snapper, sole,
        swordfish, tilapia, trout, tuna, ahi, turbot, yellowtail, hamachi, bonito, dashi, surimi,
        crab stick, imitation crab, worcestershire, worcestershire sauce, worcester sauce, tobiko,
        masago, ikura, ceviche
        """),
    # Annex II, 5: peanuts. US: peanuts.
    "peanuts": listed("""
        peanut, peanuts, peanut butter, peanut oil, peanut sauce, groundnut, ground nut, monkey nut,
        arachis oil, satay, satay sauce, beer nut, nut, nuts, mixed nuts, nut butter, nut oil
        """),
    # Annex II, 6: soybeans. US: soybeans.
    "soy": listed("""
        soy, soya, soybean, soybeans, soyabean, soy bean, soya bean, soy sauce, soya sauce,
        soy milk, soya milk, soy lecithin, soya lecithin, soy protein, tofu, bean curd, tempeh,
        edamame, miso, natto, tamari, shoyu, okara, teriyaki, teriyaki sauce, hoisin, gochujang
        """),
    # Annex II, 7: milk, including lactose. US: milk.
    "milk": listed("""
        milk, dairy, dairies, lactose, lactose free, dairy products, milk products, cow's milk,
        cows milk, goat milk, milk protein, milk powder, casein, caseinate, whey, curd, curds, ghee,
        butter, buttermilk, butterfat, cream, whipped cream, sour cream, ice cream, clotted cream,
        creme fraiche, creme, crema, custard, panna cotta, gelato, yogurt, yoghurt, yoghourt, kefir,
        quark, skyr, labneh, lassi, raita, tzatziki, bechamel, alfredo, dulce de leche,
        condensed milk, milkshake, cheese, cheeses, cheesy, formaggi, queso, cream cheese,
        goat cheese, blue cheese, mozzarella, fior di latte, burrata, stracciatella, parmesan,
        parmigiano, grana padano, pecorino, ricotta, mascarpone, gorgonzola, provolone, fontina,
        taleggio, cheddar, gouda, edam, emmental, gruyere, swiss cheese, american cheese,
        pepper jack, monterey jack, brie, camembert, roquefort, stilton, feta, halloumi, cotija,
        paneer, cheesecake
        """),
    # Annex II, 8: nuts (almonds, hazelnuts, walnuts, cashews, pecans, Brazil nuts, pistachios, macadamia nuts).
    # US: tree nuts, which include pine nuts.
    "tree nuts": listed("""
        tree nut, tree nuts, nut, nuts, mixed nuts, nut butter, nut oil, almond, almonds,
        almond milk, almond butter, almond flour, ground almonds, amaretto, amaretti, marzipan,
        frangipane, hazelnut, filbert, cobnut, nocciola, gianduja, nutella, praline, nougat,
        torrone, walnut, cashew, cashew nut, cashew cheese, cashew cream, cashew milk, pecan,
        pecan nut, brazil nut, pistachio, pistachio nut, macadamia, macadamia nut, queensland nut,
        hazelnut milk, pine nut, pine nuts, pinenut, pinon, pignoli, pinoli, pine kernel, pesto,
        pesto genovese, baklava
        """),
    # Annex II, 9: celery.
    "celery": listed("celery, celery salt, celery seed, celeriac, celery root"),
    # Annex II, 10: mustard.
    "mustard": listed("mustard, honey mustard, dijon, mustard seed, mustard oil"),
    # Annex II, 11: sesame seeds. US: sesame (FASTER Act).
    "sesame": listed("""
        sesame, sesame seed, sesame seeds, sesame oil, tahini, tahina, tehina, halva, halvah, halwa,
        hummus, houmous, humus, gomasio, furikake, zaatar, za'atar, benne, gingelly
        """),
    # Annex II, 12: sulphur dioxide and sulphites above 10 mg/kg or 10 mg/l.
    "sulfites": listed("""
        sulfite, sulfites, sulphite, sulphites, sulfur dioxide, sulphur dioxide, so2, metabisulfite,
        metabisulphite, e220, wine, prosecco, champagne
        """),
    # Annex II, 13: lupin.
    "lupin": listed("lupin, lupins, lupine, lupini, lupini beans, lupin flour"),
    # No allergen by law: what guests leave out for their faith, or do not eat.
    "pork": listed("""
        pork, pork belly, pulled pork, pig, bacon, pancetta, guanciale, lard, lardo, lardons, ham,
        gammon, prosciutto, speck, jamon, serrano, iberico, chorizo, salami, salame, soppressata,
        pepperoni, mortadella, capicola, coppa, nduja, porchetta, carnitas, al pastor, chicharron,
        chicharrones, char siu, tonkatsu, tonkotsu, sausage, italian sausage, bratwurst, andouille,
        frankfurter
        """),
    "beef": listed("""
        beef, veal, steak, ribeye, sirloin, brisket, pastrami, corned beef, roast beef, ground beef,
        carne asada, barbacoa, bresaola, bulgogi, oxtail, short rib, short ribs
        """),
}
"""The everyday words for each family."""

NO_ALLERGENS: frozenset[str] = frozenset({"pork", "beef"})
"""The families that no law counts as allergens: one of their foods is asked for by its own name."""

SUBSTANCES: tuple[str, ...] = listed("dairy, dairy products, milk products, lactose, gluten")
"""General words by which nothing is ordered."""

GENERAL: tuple[str, ...] = (
    *SUBSTANCES,
    *listed("nuts, tree nuts, peanuts, seafood, shellfish, pork, beef"),
)
"""Words for all foods of a family, which name none of them: "without dairy" leaves the mozzarella off."""

NO_FAMILY: tuple[str, ...] = listed("""
    root beer, ginger beer, ginger ale, buckwheat, corn bread, cornbread, rice noodle, glass noodle,
    corn flour, cornflour, rice flour, chickpea flour, rice pasta, rice cake, crab apple,
    oyster mushroom, water chestnut, nutmeg, butternut, butternut squash, butter bean,
    butter lettuce, cocoa butter, coconut milk, coconut cream, coconut butter, coconut yogurt,
    rice milk, hemp milk, turkey bacon, beef bacon, turkey ham, turkey sausage, chicken sausage,
    beef sausage, lamb sausage, chicken chorizo, portobello steak, cauliflower steak, tuna steak,
    swordfish steak, salmon steak, steak fries, steak sauce, cream of tartar, cream soda, cream of coconut, shea butter, apple butter,
    pizza sauce, pasta sauce, egg plant, coconut
    """)
"""Phrases in which a word of a family names something else."""

WITHOUT: frozenset[str] = frozenset({"no", "without", "non", "not"})
"""Words before a food that say that it is not in it: "no cheese"."""

FREE = "free"
"""The word after a food that says so: "gluten free"."""

FROM_PLANTS: frozenset[str] = frozenset({"vegan", "plant based", "plant"})
"""Words before a food that is made from plants: "vegan cheese"."""

FROM_ANIMALS: frozenset[str] = frozenset({"milk", "egg", "fish", "shellfish", "pork", "beef"})
"""The families that such a food does not hold."""

FILLERS: frozenset[str] = frozenset(
    "a all allergen allergic allergy and any anything at be by disease food free from i in intolerance intolerant it"
    " kind my no of or other product severe sort stuff that the thing to type very with"
    .split()
)  # fmt: skip
"""Words in a guest's allergy that name no food."""
